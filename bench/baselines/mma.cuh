// Shared by the GEMM baselines that use mma.sync: fragments, matrices, and storing C.
#pragma once

#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace {

typedef unsigned u32;

struct Sizes {
    u32 m, n, k, a_pitch, b_pitch, c_pitch;
};
struct Scale {
    float alpha, beta;
};

__device__ __forceinline__ size_t element(u32 row, u32 column, u32 pitch) {
    return static_cast<size_t>(row) * pitch + column;
}

__device__ __forceinline__ u32 smaller(u32 x, u32 y) { return x < y ? x : y; }

// Fragments of m16n8k16: a lane's registers, two elements each (sums: one).
struct A {
    u32 x[4];
};
struct B {
    u32 x[2];
};
struct Sums {
    float x[4];
};

__device__ __forceinline__ void mma(Sums& d, const A& a, const B& b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d.x[0]), "+f"(d.x[1]), "+f"(d.x[2]), "+f"(d.x[3])
                 : "r"(a.x[0]), "r"(a.x[1]), "r"(a.x[2]), "r"(a.x[3]), "r"(b.x[0]), "r"(b.x[1]));
}

__device__ __forceinline__ void ldmatrix(u32* to, u32 address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
}

// Byte of chunk `chunk` of a row in tiles with rows of 128 bytes.
template <bool SWIZZLED> __device__ __forceinline__ u32 chunk_offset(u32 row, u32 chunk) {
    return row * 128 + (SWIZZLED ? chunk ^ (row % 8) : chunk) * 16;
}

// Two adjacent elements of a row of C, from the product's sums.
__device__ __forceinline__ __half2 scaled_pair(const __half* c, const Sizes& s, Scale scale, u32 row, u32 column,
                                               float x, float y) {
    x *= scale.alpha;
    y *= scale.alpha;
    if (scale.beta != 0 && row < s.m && column < s.n) {
        const __half* before = c + element(row, column, s.c_pitch);
        x = fmaf(scale.beta, __half2float(before[0]), x);
        if (column + 1 < s.n) y = fmaf(scale.beta, __half2float(before[1]), y);
    }
    return __floats2half2_rn(x, y);
}

// A warp's 64×64 of C, 16 rows at a time, through 2 KB of shared memory.
__device__ __forceinline__ void write_back(__half* c, const Sizes& s, Scale scale, unsigned char* area, u32 row,
                                           u32 column, const Sums (&sums)[4][8]) {
    const u32 lane = threadIdx.x % 32;
#pragma unroll
    for (u32 i = 0; i < 4; i++, row += 16) {
        const auto write = [&](Scale scale) {
#pragma unroll
            for (u32 j = 0; j < 8; j++) {
#pragma unroll
                for (u32 half = 0; half < 2; half++) {
                    const u32 r = half * 8 + lane / 4;
                    *reinterpret_cast<__half2*>(area + chunk_offset<true>(r, j) + lane % 4 * 4) =
                        scaled_pair(c, s, scale, row + r, column + j * 8 + lane % 4 * 2, sums[i][j].x[2 * half],
                                    sums[i][j].x[2 * half + 1]);
                }
            }
        };
        if (scale.beta == 0) {
            write({scale.alpha, 0});
        } else {
            write(scale);
        }
        __syncwarp();
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            const u32 r = j * 4 + lane / 8, l = column + lane % 8 * 8;
            const uint4 chunk = *reinterpret_cast<const uint4*>(area + chunk_offset<true>(r, lane % 8));
            if (row + r >= s.m || l >= s.n) continue;
            __half* to = c + element(row + r, l, s.c_pitch);
            if (l + 8 <= s.n) {
                *reinterpret_cast<uint4*>(to) = chunk;
                continue;
            }
            const u32 pairs[4] = {chunk.x, chunk.y, chunk.z, chunk.w};
#pragma unroll
            for (u32 e = 0; e < 7; e++) {
                if (l + e < s.n) to[e] = __ushort_as_half(static_cast<unsigned short>(pairs[e / 2] >> (e % 2 * 16)));
            }
        }
        __syncwarp();
    }
}

}  // namespace
