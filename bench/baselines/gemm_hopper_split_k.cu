// CUDA C++ baselines of gpu-kernels/src/12_gemm/02_hopper, steps 15 and 16 (split-K): few tiles, whose steps several
// blocks divide. The same entry names, parameters and geometry as there.

#include "device.cuh"
#include "hopper_tiles.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

namespace {

// Warpgroups that multiply; a warp after them copies.
constexpr u32 MULTIPLIERS = 2, MULTIPLIER_THREADS = MULTIPLIERS * WARPGROUP, THREADS = MULTIPLIER_THREADS + 32;

// ROWS warpgroups one below the other, the rest side by side with them, each with this many registers of sums.
template <u32 ROWS_, u32 REGISTERS_, u32 STAGES_> struct Shape {
    static constexpr u32 ROWS = ROWS_, REGISTERS = REGISTERS_, STAGES = STAGES_;
    static constexpr u32 TILE_M = ROWS * M, TILE_N = MULTIPLIERS / ROWS * 2 * REGISTERS;
    static constexpr u32 STAGE_BYTES = (TILE_M + TILE_N) * ROW_BYTES;
    using Stages = Ring<STAGES, STAGE_BYTES, 0>;
};

// A block's part of the steps of its tile.
struct Part {
    u32 row, column, first, end;
};

template <class S> __device__ __forceinline__ Part part_of(u32 k, u32 number, u32 n_parts) {
    const u32 n_steps = ceil_div(k, TILE_K), most = (n_steps + n_parts - 1) / n_parts;
    const u32 first = number * most;
    return {blockIdx.y * S::TILE_M, blockIdx.z * S::TILE_N, first, min(n_steps, first + most)};
}

template <class S>
__device__ __forceinline__ void copy_steps(const CUtensorMap& a, const CUtensorMap& b, typename S::Stages ring,
                                           const Part& part) {
    prefetch_map(a);
    prefetch_map(b);
    Turn<S::STAGES> turn = {0, 1};
    for (u32 step = part.first; step < part.end; step++) {
        wait_for_phase(ring.free(turn.stage), turn.parity);
        const u32 full = ring.full(turn.stage), to = ring.stage(turn.stage), k = step * TILE_K;
        arrive_expecting(full, S::STAGE_BYTES);
        load_box(to, a, k, part.row, full);
        load_box(to + S::TILE_M * ROW_BYTES, b, k, part.column, full);
        turn.advance();
    }
}

template <class S>
__device__ __forceinline__ void multiply_steps(float (&sums)[S::REGISTERS], typename S::Stages ring, u32 role,
                                               const Part& part) {
    const u64 tile_a = descriptor(ring.base + role % S::ROWS * M * ROW_BYTES);
    const u64 tile_b =
        descriptor(ring.base + (S::TILE_M + role / S::ROWS * 2 * S::REGISTERS) * ROW_BYTES);
    const bool is_first = threadIdx.x % WARPGROUP == 0;
    Turn<S::STAGES> turn = {0, 0};
    u32 previous = 0;
    for (u32 step = part.first; step < part.end; step++) {
        wait_for_phase(ring.full(turn.stage), turn.parity);
        const u32 distance = turn.stage * S::STAGE_BYTES;
        const bool is_further = step != part.first;
        add_product(sums, further(tile_a, distance), further(tile_b, distance), is_further);
        // The product before this one is done.
        wait_for_all_but<1>();
        arrive_if(is_first & is_further, ring.free(previous));
        previous = turn.stage;
        turn.advance();
    }
    finish(sums);
}

// ---- 15: a cluster divides the steps --------------------------------------------------

// The thread's chunk of four sums: those of neighbouring threads are side by side.
__device__ __forceinline__ u32 chunk_at(u32 base, u32 chunk) {
    return base + (chunk * MULTIPLIER_THREADS + threadIdx.x) * 16;
}

template <u32 REGISTERS> __device__ __forceinline__ void put(u32 base, const float (&sums)[REGISTERS]) {
#pragma unroll
    for (u32 i = 0; i < REGISTERS; i += 4) {
        asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};"
                     :
                     : "r"(chunk_at(base, i / 4)), "f"(sums[i]), "f"(sums[i + 1]), "f"(sums[i + 2]), "f"(sums[i + 3])
                     : "memory");
    }
}

// From the block of this rank in the cluster.
__device__ __forceinline__ float4 load_theirs(u32 address, u32 rank) {
    u32 theirs;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(address), "r"(rank));
    float4 x;
    asm volatile("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                 : "r"(theirs)
                 : "memory");
    return x;
}

// Adds up the block's share of a warpgroup's sums, chunks at regular distances, and stores it. `load` gives a chunk of
// a part.
template <u32 CHUNKS, class F>
__device__ __forceinline__ void add_up(u32 number, u32 n_parts, const Direct& store, u32 row, u32 column,
                                       const F& load) {
    for (u32 chunk = number; chunk < CHUNKS; chunk += n_parts) {
        float sums[4] = {};
        for (u32 part = 0; part < n_parts; part++) {
            const float4 theirs = load(part, chunk);
            sums[0] += theirs.x;
            sums[1] += theirs.y;
            sums[2] += theirs.z;
            sums[3] += theirs.w;
        }
        const Place at = position(threadIdx.x % WARPGROUP, 4 * chunk);
        // The third and the fourth are those of the row eight further down.
        store.store_pair(sums[0], sums[1], row + at.row, column + at.column);
        store.store_pair(sums[2], sums[3], row + at.row + 8, column + at.column);
    }
}

template <class S>
__device__ __forceinline__ void split_k(const CUtensorMap& a, const CUtensorMap& b, const Direct& store) {
    const typename S::Stages ring;
    const u32 role = warpgroup_index();
    if (threadIdx.x == 0) ring.make(MULTIPLIERS);
    __syncthreads();
    const u32 rank = cluster_rank(), n_blocks = cluster_size();
    const Part part = part_of<S>(store.sizes.k, rank, n_blocks);
    // Up to here nothing depends on the previous launch.
    let_next_start();
    wait_for_previous();

    float sums[S::REGISTERS] = {};
    if (role == MULTIPLIERS) {
        if (is_elected()) copy_steps<S>(a, b, ring, part);
    } else {
        multiply_steps<S>(sums, ring, role, part);
    }
    const u32 row = part.row + role % S::ROWS * M, column = part.column + role / S::ROWS * 2 * S::REGISTERS;
    if (n_blocks == 1) {
        if (role != MULTIPLIERS) {
            finish(sums);
            store.store(0, role, sums, row, column);
        }
        return;
    }
    // The tiles have been read by now.
    __syncthreads();
    if (role != MULTIPLIERS) {
        finish(sums);
        put(ring.base, sums);
    }
    sync_cluster();
    if (role != MULTIPLIERS) {
        add_up<S::REGISTERS / 4>(rank, n_blocks, store, row, column, [&](u32 block, u32 chunk) {
            return load_theirs(chunk_at(ring.base, chunk), block);
        });
    }
    // No block ends while others may still read its sums.
    sync_cluster();
}

// ---- 16: blocks anywhere divide the steps ---------------------------------------------

using Large = Shape<2, 128, 4>;
constexpr u32 LEFT_SUMS = Large::TILE_M * Large::TILE_N;

__device__ __forceinline__ u32 add_release(u32* to, u32 x) {
    u32 before;
    asm volatile("atom.add.release.gpu.global.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(__cvta_generic_to_global(to)), "r"(x)
                 : "memory");
    return before;
}
__device__ __forceinline__ u32 add_relaxed(u32* to, u32 x) {
    u32 before;
    asm volatile("atom.add.relaxed.gpu.global.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(__cvta_generic_to_global(to)), "r"(x)
                 : "memory");
    return before;
}
__device__ __forceinline__ u32 load_acquire(const u32* from) {
    u32 value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(from)) : "memory");
    return value;
}

// Where the blocks of all tiles leave their sums and count themselves.
struct Left {
    float* sums;
    u32* counters;

    static __device__ __forceinline__ u32 tile() { return blockIdx.z * gridDim.y + blockIdx.y; }
    __device__ __forceinline__ u32* counter(u32 role) const { return counters + (tile() * MULTIPLIERS + role); }
    __device__ __forceinline__ float4* chunk(u32 part, u32 number) const {
        const u32 block = tile() * gridDim.x + part;
        return reinterpret_cast<float4*>(sums + static_cast<size_t>(block) * LEFT_SUMS) +
               (number * MULTIPLIER_THREADS + threadIdx.x);
    }
    __device__ __forceinline__ void put(const float (&own)[128]) const {
#pragma unroll
        for (u32 i = 0; i < 128; i += 4) {
            *chunk(blockIdx.x, i / 4) = make_float4(own[i], own[i + 1], own[i + 2], own[i + 3]);
        }
    }
    // Waits until the warpgroup's sums of all parts have been left. Blocks that are already done count on.
    __device__ __forceinline__ void wait_for_all(u32 role) const {
        sync_warpgroup(role + 1);
        if (threadIdx.x % WARPGROUP == 0) add_release(counter(role), 1);
        while (!__all_sync(0xffffffff, load_acquire(counter(role)) >= gridDim.x)) {
        }
    }
    // The last one clears the counter.
    __device__ __forceinline__ void done(u32 role) const {
        sync_warpgroup(role + 1);
        if (threadIdx.x % WARPGROUP == 0 && add_relaxed(counter(role), 1) + 1 == 2 * gridDim.x) {
            asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(counter(role))), "r"(0)
                         : "memory");
        }
    }
};

__device__ __forceinline__ void split_k_grid(const CUtensorMap& a, const CUtensorMap& b, const Direct& store,
                                             Left left) {
    const Large::Stages ring;
    const u32 role = warpgroup_index();
    if (threadIdx.x == 0) ring.make(MULTIPLIERS);
    __syncthreads();
    const Part part = part_of<Large>(store.sizes.k, blockIdx.x, gridDim.x);
    // Up to here nothing depends on the previous launch.
    let_next_start();
    wait_for_previous();

    if (role == MULTIPLIERS) {
        if (is_elected()) copy_steps<Large>(a, b, ring, part);
        return;
    }
    float sums[128] = {};
    multiply_steps<Large>(sums, ring, role, part);
    const u32 row = part.row + role * M;
    finish(sums);
    if (gridDim.x == 1) {
        store.store(0, role, sums, row, part.column);
        return;
    }
    left.put(sums);
    left.wait_for_all(role);
    add_up<128 / 4>(blockIdx.x, gridDim.x, store, row, part.column,
                    [&](u32 other, u32 chunk) { return *left.chunk(other, chunk); });
    left.done(role);
}

}  // namespace

#define SPLIT(name, rows, registers, stages) \
    extern "C" __global__ void __launch_bounds__(THREADS, 1) \
        name(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, __half* c, u32 m, u32 n, \
             u32 k, u32 pitch) { \
        split_k<Shape<rows, registers, stages>>(a, b, Direct{c, pitch, {m, n, k}}); \
    }
SPLIT(gemm_split_k_64x128, 1, 32, 9)
SPLIT(gemm_split_k_128x64, 2, 32, 9)
SPLIT(gemm_split_k_128x128, 2, 64, 7)
SPLIT(gemm_split_k_128x192, 2, 96, 5)
SPLIT(gemm_split_k_128x256, 2, 128, 4)

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm_split_k_grid(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, __half* c, u32 m, u32 n,
                u32 k, u32 pitch, float* sums, u32* counters) {
    split_k_grid(a, b, Direct{c, pitch, {m, n, k}}, {sums, counters});
}

#endif
