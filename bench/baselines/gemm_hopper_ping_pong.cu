// CUDA C++ baselines of gpu-kernels/src/12_gemm/02_hopper, steps 11 to 14: ping-pong (warpgroups alternate), and
// stream-K (all blocks have equal shares). The same entry names, parameters and geometry as there.

#include "device.cuh"
#include "hopper_tiles.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

namespace {

constexpr u32 TILE_M = 128, TILE_N = 128, SUMS = 128, STAGES = 6;
constexpr u32 A_BYTES = TILE_M * ROW_BYTES, STAGE_BYTES = A_BYTES + TILE_N * ROW_BYTES;
constexpr u32 MULTIPLIERS = 2, THREADS = (MULTIPLIERS + 1) * WARPGROUP;
constexpr u32 LEFT_SUMS = TILE_M * TILE_N;

// ---- stream-K -------------------------------------------------------------------------

// Consecutive steps of one tile, done by one block.
struct Part {
    u32 tile, first, end;
};

// The tiles of the last, partial round and of one full round more are laid end to end and cut into equal
// shares; the others are given out whole.
struct StreamK {
    u32 n_steps, n_tiles, n_blocks, n_shared;

    __device__ __forceinline__ StreamK(u32 n_tiles, u32 n_steps, u32 n_blocks, bool is_cut)
        : n_steps(n_steps), n_tiles(n_tiles), n_blocks(n_blocks) {
        const u32 rounds = n_tiles / n_blocks, rest = n_tiles - rounds * n_blocks;
        n_shared = is_cut && rest > 0 && rounds > 0 ? rest + n_blocks : 0;
    }
    __device__ __forceinline__ u32 start(u32 block) const { return n_shared * n_steps * block / n_blocks; }
};

// The parts that a block has yet to do: of its share, the last tile first.
struct Parts {
    u32 n_steps, n_tiles, n_blocks, start, end, next_tile;

    __device__ __forceinline__ Parts(const StreamK& s, u32 block)
        : n_steps(s.n_steps), n_tiles(s.n_tiles), n_blocks(s.n_blocks) {
        start = s.start(block);
        end = s.start(block + 1);
        next_tile = s.n_shared + block;
    }
    __device__ __forceinline__ bool next(Part& part) {
        if (start < end) {
            const u32 tile = (end - 1) / n_steps, first_of_tile = tile * n_steps;
            const u32 first = max(start, first_of_tile);
            part = {tile, first - first_of_tile, end - first_of_tile};
            end = first;
            return true;
        }
        if (next_tile < n_tiles) {
            part = {next_tile, 0, n_steps};
            next_tile += n_blocks;
            return true;
        }
        return false;
    }
};

// Where blocks leave sums for the next block, and a flag that says that they are there.
struct Left {
    float* sums;
    u32* flags;

    // The thread's first chunk; the next ones follow, each a chunk of every thread further.
    __device__ __forceinline__ float4* chunks(u32 block) const {
        return reinterpret_cast<float4*>(sums + static_cast<size_t>(block) * LEFT_SUMS) + threadIdx.x % WARPGROUP;
    }
    __device__ __forceinline__ void put(u32 block, u32 barrier, const float (&own)[SUMS]) const {
        float4* to = chunks(block);
#pragma unroll
        for (u32 i = 0; i < SUMS / 4; i++) {
            to[i * WARPGROUP] = make_float4(own[4 * i], own[4 * i + 1], own[4 * i + 2], own[4 * i + 3]);
        }
        sync_warpgroup(barrier);
        if (threadIdx.x % WARPGROUP == 0) {
            asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(flags + block)), "r"(1)
                         : "memory");
        }
    }
    // All threads poll the flag, so that all go on together. It is cleared for the next launch.
    __device__ __forceinline__ void add(u32 block, u32 barrier, float (&own)[SUMS]) const {
        u32* flag = flags + block;
        u32 is_there;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                         : "=r"(is_there)
                         : "l"(__cvta_generic_to_global(flag))
                         : "memory");
        } while (!__all_sync(0xffffffff, is_there != 0));
        sync_warpgroup(barrier);
        if (threadIdx.x % WARPGROUP == 0) {
            asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(flag)), "r"(0)
                         : "memory");
        }
        const float4* from = chunks(block);
#pragma unroll
        for (u32 i = 0; i < SUMS / 4; i++) {
            const float4 chunk = from[i * WARPGROUP];
            own[4 * i] += chunk.x;
            own[4 * i + 1] += chunk.y;
            own[4 * i + 2] += chunk.z;
            own[4 * i + 3] += chunk.w;
        }
    }
};

// ---- roles ----------------------------------------------------------------------------

using Store = TmaEpilogue<true>;
using Stages = Ring<STAGES, STAGE_BYTES, MULTIPLIERS * Store::STAGING_BYTES>;

// The work of a block, for all its roles.
template <u32 BLOCKS> struct Work {
    Stages ring;
    Tiles tiles;
    StreamK stream_k;
    u32 cluster, rank;
    Left left;

    __device__ __forceinline__ Place corner(u32 tile) const {
        const Place place = tiles.place(tile);
        return {(place.row * BLOCKS + rank) * TILE_M, place.column * TILE_N};
    }
    // One thread signals to each block of the cluster that a stage is free.
    __device__ __forceinline__ void free(u32 stage, bool when) const {
        const u32 thread = threadIdx.x % WARPGROUP;
        when = when & (thread < BLOCKS);
        if (BLOCKS > 1) {
            arrive_at_if(when, ring.free(stage), thread);
        } else {
            arrive_if(when, ring.free(stage));
        }
    }
};

template <u32 BLOCKS>
__device__ __forceinline__ void copy_parts(const CUtensorMap& a, const CUtensorMap& b, const Work<BLOCKS>& work) {
    prefetch_map(a);
    prefetch_map(b);
    const Stages ring = work.ring;
    Turn<STAGES> turn = {0, 1};
    Parts parts(work.stream_k, work.cluster);
    for (Part part; parts.next(part);) {
        const Place at = work.corner(part.tile);
        for (u32 step = part.first; step < part.end; step++) {
            wait_for_phase(ring.free(turn.stage), turn.parity);
            const u32 full = ring.full(turn.stage), to = ring.stage(turn.stage), k = step * TILE_K;
            arrive_expecting(full, STAGE_BYTES);
            load_box(to, a, k, at.row, full);
            if (BLOCKS > 1) {
                constexpr u32 ROWS = TILE_N / BLOCKS;
                const u32 first = work.rank * ROWS;
                load_box_to_all(to + A_BYTES + first * ROW_BYTES, b, k, at.column + first, full, (1 << BLOCKS) - 1);
            } else {
                load_box(to + A_BYTES, b, k, at.column, full);
            }
            turn.advance();
        }
    }
}

// Adds the products of a part's steps, and frees all stages but the last.
template <u32 BLOCKS, bool CUT>
__device__ __forceinline__ void add_products(float (&sums)[SUMS], const Work<BLOCKS>& work, Turn<STAGES> turn,
                                             const Part& part) {
    const Stages ring = work.ring;
    const u64 upper = descriptor(ring.base), lower = descriptor(ring.base + M * ROW_BYTES);
    const u64 tile_b = descriptor(ring.base + A_BYTES);
    u32 previous = 0;
    for (u32 step = part.first; step < part.end; step++) {
        wait_for_phase(ring.full(turn.stage), turn.parity);
        u32 distance = turn.stage * STAGE_BYTES;
        // ptxas, which sees the shares computed, does not know otherwise that this is the same in all lanes.
        if (CUT) distance = broadcast(distance);
        add_tall_product(sums, further(upper, distance), further(lower, distance), further(tile_b, distance),
                         step != part.first);
        // The product before this one is done.
        wait_for_all_but<1>();
        work.free(previous, step != part.first);
        previous = turn.stage;
        turn.advance();
    }
}

// A warpgroup that multiplies every other part.
template <u32 BLOCKS, bool CUT>
__device__ __forceinline__ void multiply_parts(u32 role, const Work<BLOCKS>& work, const Store& store) {
    const Stages ring = work.ring;
    const u32 staging = ring.behind() + role * Store::STAGING_BYTES, thread = threadIdx.x % WARPGROUP;
    float sums[SUMS] = {};
    Parts parts(work.stream_k, work.cluster);
    // Steps of all parts before this one, and whose turn it is.
    u32 n_before = 0, whose = 0, parity = role ^ 1;
    for (Part part; parts.next(part);) {
        const u32 first_step = n_before;
        const bool is_mine = whose == role;
        n_before += part.end - part.first;
        whose ^= 1;
        if (!is_mine) continue;
        const Place at = work.corner(part.tile);
        wait_for_phase(ring.other(role), parity);
        parity ^= 1;
        add_products<BLOCKS, CUT>(sums, work, Turn<STAGES>::after(first_step), part);
        arrive_if(thread == 0, ring.other(role ^ 1));
        const u32 last_stage = Turn<STAGES>::after(n_before - 1).stage;
        finish(sums);
        work.free(last_stage, true);
        if (CUT && part.end < work.stream_k.n_steps) {
            work.left.put(work.cluster * BLOCKS + work.rank, role + 1, sums);
        } else {
            if (CUT && part.first != 0) work.left.add((work.cluster - 1) * BLOCKS + work.rank, role + 1, sums);
            store.store(staging, role, sums, at.row, at.column);
        }
    }
    store.end();
}

template <u32 BLOCKS, bool CUT>
__device__ __forceinline__ void ping_pong(const CUtensorMap& a, const CUtensorMap& b, const CUtensorMap& c,
                                          const Extents& s, u32 group, Left left) {
    const Stages ring;
    const u32 role = warpgroup_index(), rank = BLOCKS > 1 ? cluster_rank() : 0;
    if (threadIdx.x == 0) ring.make(BLOCKS);
    sync_blocks<BLOCKS>();
    // Up to here nothing depends on the previous launch.
    let_next_start();
    wait_for_previous();
    const Tiles tiles(s, TILE_M * BLOCKS, TILE_N, group);
    const StreamK stream_k(tiles.count(), ceil_div(s.k, TILE_K), gridDim.x / BLOCKS, CUT);
    const Work<BLOCKS> work = {ring, tiles, stream_k, blockIdx.x / BLOCKS, rank, left};
    if (role == MULTIPLIERS) {
        give_registers<40>();
        if (is_first_of_group()) copy_parts<BLOCKS>(a, b, work);
    } else {
        take_registers<232>();
        multiply_parts<BLOCKS, CUT>(role, work, Store{c});
    }
    // No block ends while others may still arrive at its barriers.
    if (BLOCKS > 1) sync_cluster();
}

}  // namespace

#define IN_TURNS(name, BLOCKS) \
    extern "C" __global__ void __launch_bounds__(THREADS, 1) \
        name(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, \
             const __grid_constant__ CUtensorMap c, u32 m, u32 n, u32 k, u32 group) { \
        ping_pong<BLOCKS, false>(a, b, c, {m, n, k}, group, {nullptr, nullptr}); \
    }
IN_TURNS(gemm_ping_pong, 1)
IN_TURNS(gemm_ping_pong_pairs, 2)

#define BALANCED(name, BLOCKS) \
    extern "C" __global__ void __launch_bounds__(THREADS, 1) \
        name(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, \
             const __grid_constant__ CUtensorMap c, u32 m, u32 n, u32 k, u32 group, float* sums, u32* flags) { \
        ping_pong<BLOCKS, true>(a, b, c, {m, n, k}, group, {sums, flags}); \
    }
BALANCED(gemm_stream_k, 1)
BALANCED(gemm_stream_k_pairs, 2)

#endif
