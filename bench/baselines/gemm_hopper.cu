// CUDA C++ baselines of gpu-kernels/src/12_gemm/02_hopper, steps 5 to 10: the same entry names, parameters and
// geometry, so that one launch call drives either. The Rust kernels are timed against them.
// The file is empty for architectures without wgmma.

#include "hopper_warp_specialized.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

namespace {

// ---- 5: wgmma alone -------------------------------------------------------------------

struct Sizes {
    u32 m, n, k, a_pitch, b_pitch, c_pitch;
};

// Copies the first n_bytes of 16, and fills the rest with zeros.
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

}  // namespace

extern "C" __global__ void __launch_bounds__(WARPGROUP) gemm_wgmma(const __half* a, const __half* b, __half* c,
                                                                   Sizes s) {
    alone(a, b, c, s);
}

extern "C" __global__ void __launch_bounds__(WARPGROUP, 1)
    gemm_tma(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, __half* c, u32 m, u32 n,
                u32 k, u32 pitch) {
    copied(a, b, c, {m, n, k}, pitch);
}

// One block per tile.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm_warp_specialized(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, __half* c, u32 m, u32 n,
               u32 k, u32 pitch, u32 group) {
    warp_specialized<1, true, 128>(a, b, {m, n, k}, group, Direct{c, pitch, {m, n, k}});
}

// One block per SM.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm_persistent(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, __half* c, u32 m,
                    u32 n, u32 k, u32 pitch, u32 group) {
    warp_specialized<1, true, 128>(a, b, {m, n, k}, group, Direct{c, pitch, {m, n, k}});
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm_epilogue(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                const __grid_constant__ CUtensorMap c, u32 m, u32 n, u32 k, u32 group) {
    warp_specialized<1, true, 128>(a, b, {m, n, k}, group, TmaEpilogue<false>{c});
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm_cluster(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 const __grid_constant__ CUtensorMap c, u32 m, u32 n, u32 k, u32 group) {
    warp_specialized<2, true, 128>(a, b, {m, n, k}, group, TmaEpilogue<false>{c});
}

#endif
