// CUDA C++ baselines of gpu-kernels/src/12_gemm/01_mma: the same entry names,
// parameters and geometry, so that one launch call drives either. The Rust kernels
// are timed against them.

#include "mma.cuh"

namespace {

// Copies the first n_bytes of 16, and fills the rest with zeros.
__device__ __forceinline__ void copy_first(u32 to, const void* from, u32 n_bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(__cvta_generic_to_global(from)),
                 "r"(n_bytes)
                 : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

__device__ __forceinline__ void store_pair(__half* c, const Sizes& s, Scale scale, u32 row, u32 column, float x,
                                           float y) {
    if (row >= s.m || column >= s.n) return;
    const __half2 pair = scaled_pair(c, s, scale, row, column, x, y);
    __half* to = c + element(row, column, s.c_pitch);
    if (column + 1 < s.n) {
        *reinterpret_cast<__half2*>(to) = pair;
    } else {
        *to = __low2half(pair);
    }
}

// Two neighbours along k, zeros beyond the matrix.
__device__ __forceinline__ u32 pair_or_zeros(const __half* matrix, u32 row, u32 column, u32 rows, u32 columns,
                                             u32 pitch) {
    if (row >= rows || column >= columns) return 0;
    const u32 pair = *reinterpret_cast<const u32*>(matrix + element(row, column, pitch));
    return column + 1 < columns ? pair : pair & 0xffff;
}

// ---- tiled, swizzled ------------------------------------------------------------------

constexpr u32 SIDE = 128;
constexpr u32 TILE_K = 64;
constexpr u32 TILE_BYTES = SIDE * TILE_K * 2;

template <bool SWIZZLED>
__device__ __forceinline__ void copy_tile(u32 tile, const __half* from, u32 rows, u32 columns, u32 pitch) {
    const u32 row = threadIdx.x / 8, chunk = threadIdx.x % 8;
    const u32 left = columns > chunk * 8 ? columns - chunk * 8 : 0;
    const u32 n_bytes = smaller(left, 8) * 2;
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
        const u32 r = row + i * 32;
        copy_first(tile + chunk_offset<SWIZZLED>(r, chunk), from + (r * pitch + chunk * 8), r < rows ? n_bytes : 0);
    }
}

// A 16×16 block of a tile: by registers of 4 bytes per lane, or by ldmatrix.
template <bool SWIZZLED> __device__ __forceinline__ A load_a(const unsigned char* tile, u32 row, u32 column) {
    const u32 lane = threadIdx.x % 32;
    A a;
    if (SWIZZLED) {
        const u32 base = static_cast<u32>(__cvta_generic_to_shared(tile));
        ldmatrix(a.x, base + chunk_offset<true>(row + lane % 16, column / 8 + lane / 16));
    } else {
#pragma unroll
        for (u32 r = 0; r < 4; r++) {
            a.x[r] = *reinterpret_cast<const u32*>(tile + (row + r % 2 * 8 + lane / 4) * 128 +
                                                   (column + r / 2 * 8 + lane % 4 * 2) * 2);
        }
    }
    return a;
}
template <bool SWIZZLED> __device__ __forceinline__ void load_b(B* b, const unsigned char* tile, u32 row, u32 column) {
    const u32 lane = threadIdx.x % 32;
    if (SWIZZLED) {
        const u32 base = static_cast<u32>(__cvta_generic_to_shared(tile));
        u32 x[4];
        ldmatrix(x, base + chunk_offset<true>(row + lane % 8 + lane / 16 * 8, column / 8 + lane / 8 % 2));
        b[0] = B{{x[0], x[1]}};
        b[1] = B{{x[2], x[3]}};
    } else {
#pragma unroll
        for (u32 half = 0; half < 2; half++) {
#pragma unroll
            for (u32 r = 0; r < 2; r++) {
                b[half].x[r] = *reinterpret_cast<const u32*>(tile + (row + half * 8 + lane / 4) * 128 +
                                                             (column + r * 8 + lane % 4 * 2) * 2);
            }
        }
    }
}

template <bool SWIZZLED>
__device__ __forceinline__ void tiled(const __half* a, const __half* b, __half* c, const Sizes& s, Scale scale) {
    __shared__ __align__(128) unsigned char a_tile[TILE_BYTES];
    __shared__ __align__(128) unsigned char b_tile[TILE_BYTES];
    const u32 a_address = static_cast<u32>(__cvta_generic_to_shared(a_tile));
    const u32 b_address = static_cast<u32>(__cvta_generic_to_shared(b_tile));
    const u32 first_row = blockIdx.y * SIDE, first_column = blockIdx.x * SIDE;
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const u32 row = warp % 2 * 64, column = warp / 2 * 32;
    a += element(first_row, 0, s.a_pitch);
    b += element(first_column, 0, s.b_pitch);
    Sums sums[4][4] = {};
    for (u32 first = 0; first < s.k; first += TILE_K) {
        copy_tile<SWIZZLED>(a_address, a, s.m - first_row, s.k - first, s.a_pitch);
        copy_tile<SWIZZLED>(b_address, b, s.n - first_column, s.k - first, s.b_pitch);
        commit();
        wait_group<0>();
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < TILE_K; k += 16) {
            B right[4];
            load_b<SWIZZLED>(right, b_tile, column, k);
            load_b<SWIZZLED>(right + 2, b_tile, column + 16, k);
#pragma unroll
            for (u32 i = 0; i < 4; i++) {
                const A left = load_a<SWIZZLED>(a_tile, row + i * 16, k);
#pragma unroll
                for (u32 j = 0; j < 4; j++) mma(sums[i][j], left, right[j]);
            }
        }
        __syncthreads();
        a += TILE_K;
        b += TILE_K;
    }
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            const u32 r = first_row + row + i * 16 + lane / 4, l = first_column + column + j * 8 + lane % 4 * 2;
            store_pair(c, s, scale, r, l, sums[i][j].x[0], sums[i][j].x[1]);
            store_pair(c, s, scale, r + 8, l, sums[i][j].x[2], sums[i][j].x[3]);
        }
    }
}

// ---- pipelined ------------------------------------------------------------------------

constexpr u32 ROWS = 128, COLUMNS = 256, STAGES = 4, GROUP = 8;
constexpr u32 STAGE_BYTES = (ROWS + COLUMNS) * 128;

template <bool WHOLE_CHUNKS> struct Copies {
    const char *a, *b;
    u32 a_distances[4], b_distances[8], address, left;

    __device__ __forceinline__ void one(u32 to, const char* from) const {
        copy_first(to, from, WHOLE_CHUNKS ? (left != 0 ? 16 : 0) : smaller(left, 8) * 2);
    }
    template <int PART> __device__ __forceinline__ void start_part(u32 stage) {
        const u32 to = address + stage;
#pragma unroll
        for (u32 i = 0; i < 4; i++) {
            if (i % 3 == PART) one(to + i * 32 * 128, a + a_distances[i]);
        }
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            if (i % 3 == PART) one(to + (ROWS + i * 32) * 128, b + b_distances[i]);
        }
        if (PART == 2) {
            commit();
            a += 128;
            b += 128;
            left = left > TILE_K ? left - TILE_K : 0;
        }
    }
    __device__ __forceinline__ void start(u32 stage) {
        start_part<0>(stage);
        start_part<1>(stage);
        start_part<2>(stage);
    }
};

struct Fragments {
    A a[4];
    B b[8];
    __device__ __forceinline__ void load(const u32* a_rows, const u32* b_rows, u32 stage, u32 step) {
#pragma unroll
        for (u32 i = 0; i < 4; i++) {
            u32 x[4];
            ldmatrix(x, b_rows[step] + stage + i * 16 * 128);
            b[2 * i] = B{{x[0], x[1]}};
            b[2 * i + 1] = B{{x[2], x[3]}};
        }
#pragma unroll
        for (u32 i = 0; i < 4; i++) ldmatrix(a[i].x, a_rows[step] + stage + i * 16 * 128);
    }
};

extern __shared__ __align__(128) unsigned char ring_memory[];

template <bool WHOLE_CHUNKS>
__device__ __forceinline__ void pipelined(const __half* a, const __half* b, __half* c, const Sizes& s, Scale scale) {
    const u32 ring = static_cast<u32>(__cvta_generic_to_shared(ring_memory));
    const u32 thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    const u32 tile_rows = (s.m + ROWS - 1) / ROWS, tile_columns = (s.n + COLUMNS - 1) / COLUMNS;
    const u32 group_row = blockIdx.x / (GROUP * tile_columns) * GROUP;
    const u32 within = blockIdx.x - group_row * tile_columns;
    const u32 height = smaller(GROUP, tile_rows - group_row);
    const u32 first_row = (group_row + within % height) * ROWS, first_column = within / height * COLUMNS;

    Copies<WHOLE_CHUNKS> copies;
    copies.a = reinterpret_cast<const char*>(a + element(first_row, 0, s.a_pitch));
    copies.b = reinterpret_cast<const char*>(b + element(first_column, 0, s.b_pitch));
    const u32 copy_row = thread / 8, chunk = thread % 8;
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
        copies.a_distances[i] = (smaller(copy_row + i * 32, s.m - first_row - 1) * s.a_pitch + chunk * 8) * 2;
    }
#pragma unroll
    for (u32 i = 0; i < 8; i++) {
        copies.b_distances[i] = (smaller(copy_row + i * 32, s.n - first_column - 1) * s.b_pitch + chunk * 8) * 2;
    }
    copies.address = ring + chunk_offset<true>(copy_row, chunk);
    copies.left = s.k > chunk * 8 ? s.k - chunk * 8 : 0;
    copies.start(0);
    copies.start(STAGE_BYTES);
    copies.start(2 * STAGE_BYTES);

    const u32 row = warp % 2 * 64, column = warp / 2 * 64;
    u32 a_rows[4], b_rows[4];
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        a_rows[k] = ring + row * 128 + chunk_offset<true>(lane % 16, k * 2 + lane / 16);
        b_rows[k] = ring + (ROWS + column) * 128 + chunk_offset<true>(lane % 8 + lane / 16 * 8, k * 2 + lane / 8 % 2);
    }
    Sums sums[4][8] = {};
    Fragments fragments[2];
    u32 full = 0, free = (STAGES - 1) * STAGE_BYTES;
    wait_group<STAGES - 2>();
    __syncthreads();
    fragments[0].load(a_rows, b_rows, full, 0);
    const u32 n_tiles = (s.k + TILE_K - 1) / TILE_K;
#pragma unroll 1
    for (u32 tile = 0; tile < n_tiles; tile++) {
#pragma unroll
        for (u32 k = 0; k < 4; k++) {
            const u32 next = (k + 1) % 4;
            if (next == 0) {
                wait_group<STAGES - 2>();
                __syncthreads();
                free = full;
                full = full == (STAGES - 1) * STAGE_BYTES ? 0 : full + STAGE_BYTES;
            }
            fragments[(k + 1) % 2].load(a_rows, b_rows, full, next);
            if (k == 0) copies.template start_part<0>(free);
            if (k == 1) copies.template start_part<1>(free);
            if (k == 2) copies.template start_part<2>(free);
            const Fragments& f = fragments[k % 2];
#pragma unroll
            for (u32 i = 0; i < 4; i++) {
#pragma unroll
                for (u32 turn = 0; turn < 8; turn++) {
                    const u32 j = i % 2 == 0 ? turn : 7 - turn;
                    mma(sums[i][j], f.a[i], f.b[j]);
                }
            }
        }
    }
    wait_group<0>();
    __syncthreads();
    write_back(c, s, scale, ring_memory + warp * 16 * 128, first_row + row, first_column + column, sums);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256) gemm_naive(const __half* a, const __half* b, __half* c, Sizes s,
                                                             Scale scale) {
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const u32 row = blockIdx.y * 32 + warp % 2 * 16 + lane / 4, column = blockIdx.x * 32 + warp / 2 * 8;
    Sums sums = {};
    for (u32 first = 0; first < s.k; first += 16) {
        A left;
#pragma unroll
        for (u32 r = 0; r < 4; r++) {
            left.x[r] = pair_or_zeros(a, row + r % 2 * 8, first + r / 2 * 8 + lane % 4 * 2, s.m, s.k, s.a_pitch);
        }
        B right;
#pragma unroll
        for (u32 r = 0; r < 2; r++) {
            right.x[r] = pair_or_zeros(b, column + lane / 4, first + r * 8 + lane % 4 * 2, s.n, s.k, s.b_pitch);
        }
        mma(sums, left, right);
    }
    store_pair(c, s, scale, row, column + lane % 4 * 2, sums.x[0], sums.x[1]);
    store_pair(c, s, scale, row + 8, column + lane % 4 * 2, sums.x[2], sums.x[3]);
}

extern "C" __global__ void __launch_bounds__(256, 2) gemm_tiled(const __half* a, const __half* b, __half* c, Sizes s,
                                                                Scale scale) {
    tiled<false>(a, b, c, s, scale);
}

extern "C" __global__ void __launch_bounds__(256, 2) gemm_swizzled(const __half* a, const __half* b, __half* c,
                                                                   Sizes s, Scale scale) {
    tiled<true>(a, b, c, s, scale);
}

extern "C" __global__ void __launch_bounds__(256, 1) gemm_pipelined(const __half* a, const __half* b, __half* c,
                                                                    Sizes s, Scale scale) {
    if (s.k % 8 == 0) {
        pipelined<true>(a, b, c, s, scale);
    } else {
        pipelined<false>(a, b, c, s, scale);
    }
}
