// Warp-specialized blocks, in which one part copies and the others multiply: steps 7 to 10, and their variants.
#pragma once

#include "hopper_tiles.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

namespace {

constexpr u32 TILE_M = 128, TILE_N = 256, STAGES = 4, A_BYTES = TILE_M * ROW_BYTES;
constexpr u32 MULTIPLIERS = 2, THREADS = (MULTIPLIERS + 1) * WARPGROUP;

__device__ __forceinline__ constexpr u32 stage_bytes(u32 tile_n) { return A_BYTES + tile_n * ROW_BYTES; }

// The tiles of a block, one after another.
template <u32 BLOCKS, u32 TILE_N> struct Walk {
    Tiles tiles;
    u32 n_steps, number, stride, rank;

    __device__ __forceinline__ Walk(const Extents& s, u32 group, u32 rank)
        : tiles(s, TILE_M * BLOCKS, TILE_N, group),
          n_steps(ceil_div(s.k, TILE_K)),
          number(blockIdx.x / BLOCKS),
          stride(gridDim.x / BLOCKS),
          rank(rank) {}
    __device__ __forceinline__ bool goes_on() const { return number < tiles.count(); }
    __device__ __forceinline__ bool next(Place& corner) {
        if (!goes_on()) return false;
        const Place place = tiles.place(number);
        number += stride;
        corner = {(place.row * BLOCKS + rank) * TILE_M, place.column * TILE_N};
        return true;
    }
};

template <u32 BLOCKS, u32 TILE_N, class R>
__device__ __forceinline__ void copy_tiles(const CUtensorMap& a, const CUtensorMap& b, R ring,
                                           Walk<BLOCKS, TILE_N> walk) {
    prefetch_map(a);
    prefetch_map(b);
    Turn<STAGES> turn = {0, 1};
    for (Place at; walk.next(at);) {
        for (u32 step = 0; step < walk.n_steps; step++) {
            wait_for_phase(ring.free(turn.stage), turn.parity);
            const u32 full = ring.full(turn.stage), to = ring.stage(turn.stage), k = step * TILE_K;
            arrive_expecting(full, stage_bytes(TILE_N));
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

template <u32 BLOCKS, u32 REGISTERS, class R, class S>
__device__ __forceinline__ void multiply_tiles(R ring, u32 role, Walk<BLOCKS, 2 * REGISTERS> walk, const S& store) {
    const u64 tile_a = further(descriptor(ring.base), role * M * ROW_BYTES), tile_b = descriptor(ring.base + A_BYTES);
    const u32 thread = threadIdx.x % WARPGROUP, staging = ring.behind() + role * S::STAGING_BYTES;
    // One thread signals to each block of the cluster that a stage is free.
    const auto free = [&](u32 stage, bool when) {
        when = when & (thread < BLOCKS);
        if (BLOCKS > 1) {
            arrive_at_if(when, ring.free(stage), thread);
        } else {
            arrive_if(when, ring.free(stage));
        }
    };
    Turn<STAGES> turn = {0, 0};
    float sums[REGISTERS] = {};
    for (Place at; walk.next(at);) {
        u32 previous = 0;
        for (u32 step = 0; step < walk.n_steps; step++) {
            wait_for_phase(ring.full(turn.stage), turn.parity);
            const u32 distance = turn.stage * stage_bytes(2 * REGISTERS);
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

// Where EXCHANGES, a warpgroup copies and gives its registers away; otherwise a single warp copies.
template <u32 BLOCKS, bool EXCHANGES, u32 REGISTERS, class S>
__device__ __forceinline__ void warp_specialized(const CUtensorMap& a, const CUtensorMap& b, const Extents& s, u32 group,
                                      const S& store) {
    constexpr u32 WIDTH = 2 * REGISTERS;
    const Ring<STAGES, stage_bytes(WIDTH), MULTIPLIERS * S::STAGING_BYTES> ring;
    const u32 role = warpgroup_index(), rank = BLOCKS > 1 ? cluster_rank() : 0;
    if (threadIdx.x == 0) ring.make(MULTIPLIERS * BLOCKS);
    sync_blocks<BLOCKS>();
    const Walk<BLOCKS, WIDTH> walk(s, group, rank);
    if (role == MULTIPLIERS) {
        if (EXCHANGES) give_registers<40>();
        if (is_first_of_group()) copy_tiles(a, b, ring, walk);
    } else {
        if (EXCHANGES) take_registers<232>();
        multiply_tiles<BLOCKS, REGISTERS>(ring, role, walk, store);
    }
    // No block ends while others may still arrive at its barriers.
    if (BLOCKS > 1) sync_cluster();
}

}  // namespace

#endif
