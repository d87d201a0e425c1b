// CUDA C++ baselines of gpu-kernels/src/12_gemm/02_hopper, steps 5 to 10: the same entry names, the same parameters,
// the same geometry, so that one launch call drives either. They are what the Rust kernels are timed against.
// There are none where there is no wgmma.

#include "hopper_tiles.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

namespace {

// ---- 5: wgmma alone -------------------------------------------------------------------

struct Sizes {
    u32 m, n, k, a_pitch, b_pitch, c_pitch;
};

// Copies the first n_bytes of 16, and zeros for the others.
__device__ __forceinline__ void copy_first(u32 to, const __half* from, u32 n_bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(to), "l"(__cvta_generic_to_global(from)), "r"(n_bytes)
                 : "memory");
}

// Rows of a factor, 64 deep, zeros beyond the n_rows and n_columns that are left.
template <u32 ROWS>
__device__ __forceinline__ void copy_rows(u32 to, const __half* from, u32 n_rows, u32 n_columns, u32 pitch) {
    const u32 first = threadIdx.x / 8, chunk = threadIdx.x % 8;
    const u32 n_bytes = 2 * min(n_columns > chunk * 8 ? n_columns - chunk * 8 : 0, 8);
    // The thread's rows are whole periods of the swizzle apart.
    to += first * ROW_BYTES + ((chunk ^ first % 8) << 4);
#pragma unroll
    for (u32 below = 0; below < ROWS; below += WARPGROUP / 8) {
        const u32 row = first + below;
        copy_first(to + below * ROW_BYTES, from + (row * pitch + chunk * 8), row < n_rows ? n_bytes : 0);
    }
}

constexpr u32 ALONE_N = 128;

__device__ __forceinline__ void alone(const __half* a, const __half* b, __half* c, const Sizes& s) {
    const u32 tile_a = Ring<1, (M + ALONE_N) * ROW_BYTES, 0>().base, tile_b = tile_a + M * ROW_BYTES;
    const u32 row = blockIdx.y * M, column = blockIdx.x * ALONE_N;
    a += static_cast<size_t>(row) * s.a_pitch;
    b += static_cast<size_t>(column) * s.b_pitch;
    float sums[64] = {};
    for (u32 at = 0; at < s.k; at += TILE_K) {
        copy_rows<M>(tile_a, a + at, s.m - row, s.k - at, s.a_pitch);
        copy_rows<ALONE_N>(tile_b, b + at, s.n - column, s.k - at, s.b_pitch);
        asm volatile("cp.async.wait_all;" ::: "memory");
        fence_proxy();
        __syncthreads();
        add_product(sums, descriptor(tile_a), descriptor(tile_b), at != 0);
        wait_for_all_but<0>();
        __syncthreads();
    }
    finish(sums);
    Direct{c, s.c_pitch, {s.m, s.n, s.k}}.store(0, 0, sums, row, column);
}

// ---- 6: copies ahead ------------------------------------------------------------------

constexpr u32 TILE_N = 256, STAGES = 4;

__device__ __forceinline__ void copied(const CUtensorMap& a, const CUtensorMap& b, __half* c, const Extents& s,
                                       u32 pitch) {
    constexpr u32 STAGE_BYTES = (M + TILE_N) * ROW_BYTES;
    const Ring<STAGES, STAGE_BYTES, 0> ring;
    const bool is_first_warp = broadcast(threadIdx.x / 32) == 0;
    if (is_first_warp && is_elected()) ring.make(1);
    __syncthreads();
    const u32 row = blockIdx.y * M, column = blockIdx.x * TILE_N;
    const u32 n_steps = ceil_div(s.k, TILE_K);
    const auto fill = [&](u32 stage, u32 step) {
        if (is_first_warp && is_elected() && step < n_steps) {
            const u32 to = ring.stage(stage), x = step * TILE_K;
            arrive_expecting(ring.full(stage), STAGE_BYTES);
            load_box(to, a, x, row, ring.full(stage));
            load_box(to + M * ROW_BYTES, b, x, column, ring.full(stage));
        }
    };
#pragma unroll
    for (u32 stage = 0; stage < STAGES; stage++) fill(stage, stage);

    float sums[128] = {};
    Turn<STAGES> turn = {0, 0};
    u32 previous = 0;
    const u64 tile_a = descriptor(ring.base), tile_b = descriptor(ring.base + M * ROW_BYTES);
    for (u32 step = 0; step < n_steps; step++) {
        wait_for_phase(ring.full(turn.stage), turn.parity);
        const u32 distance = turn.stage * STAGE_BYTES;
        add_product(sums, further(tile_a, distance), further(tile_b, distance), step != 0);
        wait_for_all_but<1>();
        if (step > 0) fill(previous, step - 1 + STAGES);
        previous = turn.stage;
        turn.advance();
    }
    finish(sums);
    Direct{c, pitch, s}.store(0, 0, sums, row, column);
}

// ---- 7 to 10: roles -------------------------------------------------------------------

constexpr u32 TILE_M = 128, A_BYTES = TILE_M * ROW_BYTES, STAGE_BYTES = A_BYTES + TILE_N * ROW_BYTES;
constexpr u32 MULTIPLIERS = 2, THREADS = (MULTIPLIERS + 1) * WARPGROUP;

// The tiles of a block, one after another.
template <u32 BLOCKS> struct Walk {
    Tiles tiles;
    u32 n_steps, number, stride, rank;

    __device__ __forceinline__ bool next(Place& corner) {
        if (number >= tiles.count()) return false;
        const Place place = tiles.place(number);
        number += stride;
        corner = {(place.row * BLOCKS + rank) * TILE_M, place.column * TILE_N};
        return true;
    }
};

template <u32 BLOCKS, class R>
__device__ __forceinline__ void copy_tiles(const CUtensorMap& a, const CUtensorMap& b, R ring, Walk<BLOCKS> walk) {
    prefetch_map(a);
    prefetch_map(b);
    Turn<STAGES> turn = {0, 1};
    for (Place at; walk.next(at);) {
        for (u32 step = 0; step < walk.n_steps; step++) {
            wait_for_phase(ring.free(turn.stage), turn.parity);
            const u32 full = ring.full(turn.stage), to = ring.stage(turn.stage), k = step * TILE_K;
            arrive_expecting(full, STAGE_BYTES);
            load_box(to, a, k, at.row, full);
            if (BLOCKS > 1) {
                constexpr u32 ROWS = TILE_N / BLOCKS;
                const u32 first = walk.rank * ROWS;
                load_box_to_all(to + A_BYTES + first * ROW_BYTES, b, k, at.column + first, full, (1 << BLOCKS) - 1);
            } else {
                load_box(to + A_BYTES, b, k, at.column, full);
            }
            turn.advance();
        }
    }
}

template <u32 BLOCKS, class R, class S>
__device__ __forceinline__ void multiply_tiles(R ring, u32 role, Walk<BLOCKS> walk, const S& store) {
    const u64 tile_a = further(descriptor(ring.base), role * M * ROW_BYTES), tile_b = descriptor(ring.base + A_BYTES);
    const u32 thread = threadIdx.x % WARPGROUP, staging = ring.behind() + role * S::STAGING_BYTES;
    // One thread for each block of the cluster says that a stage is free.
    const auto free = [&](u32 stage, bool when) {
        when = when & (thread < BLOCKS);
        if (BLOCKS > 1) {
            arrive_at_if(when, ring.free(stage), thread);
        } else {
            arrive_if(when, ring.free(stage));
        }
    };
    Turn<STAGES> turn = {0, 0};
    float sums[128] = {};
    for (Place at; walk.next(at);) {
        u32 previous = 0;
        for (u32 step = 0; step < walk.n_steps; step++) {
            wait_for_phase(ring.full(turn.stage), turn.parity);
            const u32 distance = turn.stage * STAGE_BYTES;
            add_product(sums, further(tile_a, distance), further(tile_b, distance), step != 0);
            // The product before this one is done.
            wait_for_all_but<1>();
            free(previous, step != 0);
            previous = turn.stage;
            turn.advance();
        }
        finish(sums);
        free(previous, true);
        store.store(staging, role, sums, at.row + role * M, at.column);
    }
    store.end();
}

template <u32 BLOCKS, class S>
__device__ __forceinline__ void roles(const CUtensorMap& a, const CUtensorMap& b, const Extents& s, u32 group,
                                      const S& store) {
    const Ring<STAGES, STAGE_BYTES, MULTIPLIERS * S::STAGING_BYTES> ring;
    const u32 role = warpgroup_index(), rank = BLOCKS > 1 ? cluster_rank() : 0;
    if (threadIdx.x == 0) ring.make(MULTIPLIERS * BLOCKS);
    sync_blocks<BLOCKS>();
    const Walk<BLOCKS> walk = {Tiles(s, TILE_M * BLOCKS, TILE_N, group), ceil_div(s.k, TILE_K), blockIdx.x / BLOCKS,
                               gridDim.x / BLOCKS, rank};
    if (role == MULTIPLIERS) {
        give_registers<40>();
        if (is_first_of_group()) copy_tiles<BLOCKS>(a, b, ring, walk);
    } else {
        take_registers<232>();
        multiply_tiles<BLOCKS>(ring, role, walk, store);
    }
    // Nobody ends whose barriers others still arrive at.
    if (BLOCKS > 1) sync_cluster();
}

}  // namespace

extern "C" __global__ void __launch_bounds__(WARPGROUP) gemm_wgmma(const __half* a, const __half* b, __half* c,
                                                                   Sizes s) {
    alone(a, b, c, s);
}

extern "C" __global__ void __launch_bounds__(WARPGROUP, 1)
    gemm_copied(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, __half* c, u32 m, u32 n,
                u32 k, u32 pitch) {
    copied(a, b, c, {m, n, k}, pitch);
}

// A block for each tile.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm_roles(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, __half* c, u32 m, u32 n,
               u32 k, u32 pitch, u32 group) {
    roles<1>(a, b, {m, n, k}, group, Direct{c, pitch, {m, n, k}});
}

// A block for each SM.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm_persistent(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, __half* c, u32 m,
                    u32 n, u32 k, u32 pitch, u32 group) {
    roles<1>(a, b, {m, n, k}, group, Direct{c, pitch, {m, n, k}});
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm_staged(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                const __grid_constant__ CUtensorMap c, u32 m, u32 n, u32 k, u32 group) {
    roles<1>(a, b, {m, n, k}, group, Staged<false>{c});
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm_cluster(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 const __grid_constant__ CUtensorMap c, u32 m, u32 n, u32 k, u32 group) {
    roles<2>(a, b, {m, n, k}, group, Staged<false>{c});
}

#endif
