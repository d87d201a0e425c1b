// Shared by Hopper's GEMM baselines, besides the instructions: stages, the order of tiles, ways to store them.
#pragma once

#include "hopper.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

namespace {

// ---- stages ---------------------------------------------------------------------------

extern __shared__ __align__(128) unsigned char dynamic_memory[];

// Stages at the start of the dynamic shared memory, MORE bytes after them, then the barriers.
template <u32 STAGES, u32 STAGE_BYTES, u32 MORE> struct Ring {
    u32 base;

    __device__ __forceinline__ Ring() {
        const u32 shared = static_cast<u32>(__cvta_generic_to_shared(dynamic_memory));
        base = (shared + (TILE_ALIGN - 1)) & ~(TILE_ALIGN - 1);
        // Kept, as descriptors are.
        asm volatile("" : "+r"(base));
    }
    __device__ __forceinline__ u32 stage(u32 number) const { return base + number * STAGE_BYTES; }
    __device__ __forceinline__ u32 behind() const { return base + STAGES * STAGE_BYTES; }
    // The barrier at which a stage's bytes arrive, the one at which its readers arrive, and two more.
    __device__ __forceinline__ u32 full(u32 stage) const { return behind() + MORE + stage * 8; }
    __device__ __forceinline__ u32 free(u32 stage) const { return full(STAGES + stage); }
    __device__ __forceinline__ u32 other(u32 number) const { return full(2 * STAGES + number); }

    __device__ __forceinline__ void make(u32 n_readers) const {
#pragma unroll
        for (u32 stage = 0; stage < STAGES; stage++) {
            init_barrier(full(stage), 1);
            init_barrier(free(stage), n_readers);
        }
        init_barrier(other(0), 1);
        init_barrier(other(1), 1);
        publish_barriers();
    }
};

// A stage, and the parity of the phase to wait for there: 1 at first for filling, 0 for reading.
template <u32 STAGES> struct Turn {
    u32 stage, parity;

    __device__ __forceinline__ void advance() {
        stage += 1;
        if (stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
    // The turn for reading the stage that is filled after n others.
    static __device__ __forceinline__ Turn after(u32 n) {
        const u32 rounds = n / STAGES;
        return {n - rounds * STAGES, rounds & 1};
    }
};

// ---- tiles of C -----------------------------------------------------------------------

struct Place {
    u32 row, column;
};

// In groups of rows, a column of a group at a time, every other group starting from the right.
struct Tiles {
    u32 rows, columns, group;

    __device__ __forceinline__ Tiles(const Extents& s, u32 tile_m, u32 tile_n, u32 group)
        : rows(ceil_div(s.m, tile_m)), columns(ceil_div(s.n, tile_n)), group(group) {}
    __device__ __forceinline__ u32 count() const { return rows * columns; }
    __device__ __forceinline__ Place place(u32 number) const {
        const u32 in_group = group * columns;
        const u32 which = number / in_group;
        const u32 first = which * group;
        const u32 height = min(rows - first, group);
        const u32 within = number - which * in_group;
        const u32 column = within / height;
        return {first + (within - column * height), (which & 1) == 1 ? columns - 1 - column : column};
    }
};

// Row and column, within 64 rows, of a register of a thread of the warpgroup.
__device__ __forceinline__ Place position(u32 thread, u32 index) {
    return {thread / 32 * 16 + index / 2 % 2 * 8 + thread % 32 / 4, index / 4 * 8 + thread % 4 * 2 + index % 2};
}

// ---- from registers -------------------------------------------------------------------

struct Direct {
    static constexpr u32 STAGING_BYTES = 0;
    __half* c;
    u32 pitch;
    Extents sizes;

    template <u32 REGISTERS>
    __device__ __forceinline__ void store(u32, u32, const float (&sums)[REGISTERS], u32 row, u32 column) const {
        const u32 thread = threadIdx.x % WARPGROUP;
#pragma unroll
        for (u32 i = 0; i < REGISTERS; i += 2) {
            const Place at = position(thread, i);
            store_pair(sums[i], sums[i + 1], row + at.row, column + at.column);
        }
    }
    // Stores two adjacent elements of a row, as far as C has them.
    __device__ __forceinline__ void store_pair(float x, float y, u32 row, u32 column) const {
        if (row >= sizes.m || column >= sizes.n) return;
        __half* to = c + (static_cast<size_t>(row) * pitch + column);
        if (column + 1 < sizes.n) {
            *reinterpret_cast<__half2*>(to) = __floats2half2_rn(x, y);
        } else {
            *to = __float2half_rn(x);
        }
    }
    __device__ __forceinline__ void end() const {}
};

// ---- through shared memory and TMA ----------------------------------------

constexpr u32 BOX_N = 64, BOX_BYTES = M * ROW_BYTES, BOX_REGISTERS = 32;

// Boxes of 64 columns and 64 rows, or 128 if TALL.
template <bool TALL> struct TmaEpilogue {
    static constexpr u32 STAGING_BYTES = 2 * BOX_BYTES;
    const CUtensorMap& c;

    template <u32 REGISTERS>
    static __device__ __forceinline__ void write_box(u32 to, const float (&sums)[REGISTERS], u32 first) {
        const u32 thread = threadIdx.x % WARPGROUP, lane = thread % 32;
        to += (thread / 32 * 16 + lane % 16) * ROW_BYTES;
        const u32 chunk = lane / 16 ^ lane % 8;
#pragma unroll
        for (u32 quarter = 0; quarter < 4; quarter++) {
            u32 pairs[4];
#pragma unroll
            for (u32 i = 0; i < 4; i++) {
                const u32 at = first + quarter * 8 + i * 2;
                const __half2 pair = __floats2half2_rn(sums[at], sums[at + 1]);
                pairs[i] = *reinterpret_cast<const u32*>(&pair);
            }
            asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                         :
                         : "r"(to + ((chunk ^ 2 * quarter) << 4)), "r"(pairs[0]), "r"(pairs[1]), "r"(pairs[2]),
                           "r"(pairs[3])
                         : "memory");
        }
    }

    template <u32 REGISTERS>
    __device__ __forceinline__ void store(u32 staging, u32 warpgroup, const float (&sums)[REGISTERS], u32 row,
                                          u32 column) const {
#pragma unroll
        for (u32 i = 0; i * BOX_REGISTERS < (TALL ? REGISTERS / 2 : REGISTERS); i++) {
            // With an odd number of boxes, the last one and the next tile's first use the same memory.
            const bool is_same_as_last = i == 0 && REGISTERS / BOX_REGISTERS % 2 == 1;
            if (is_first_of_group()) {
                if (TALL || is_same_as_last) {
                    wait_stores_read<0>();
                } else {
                    wait_stores_read<1>();
                }
            }
            sync_warpgroup(warpgroup + 1);
            const u32 to = TALL ? staging : staging + i % 2 * BOX_BYTES;
            write_box(to, sums, i * BOX_REGISTERS);
            if (TALL) write_box(to + BOX_BYTES, sums, REGISTERS / 2 + i * BOX_REGISTERS);
            fence_proxy();
            sync_warpgroup(warpgroup + 1);
            if (is_first_of_group()) {
                store_box(c, column + i * BOX_N, row, to);
                commit_stores();
            }
        }
    }
    __device__ __forceinline__ void end() const {
        if (is_first_of_group()) wait_stores_read<0>();
    }
};

}  // namespace

#endif
