// CUDA C++ baseline of gpu-kernels/src/12_gemm/02_hopper/variants/small.rs; see gemm_hopper.cu.

#include "device.cuh"
#include "hopper_tiles.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

namespace {

constexpr u32 MULTIPLIERS = 2, THREADS = MULTIPLIERS * WARPGROUP + 32;
constexpr u32 TILE_N = 128, REGISTERS = 64, HALF = REGISTERS / 2, PAIR = 2, STAGES = 8;
constexpr u32 A_BYTES = M * ROW_BYTES, STAGE_BYTES = A_BYTES + TILE_N * ROW_BYTES;
constexpr u32 LEFT_BYTES = HALF * 4 * WARPGROUP, CHUNK_BYTES = 16 * WARPGROUP;
using Stages = Ring<STAGES, STAGE_BYTES, MULTIPLIERS * LEFT_BYTES>;

__device__ __forceinline__ void copy_steps(const CUtensorMap& a, const CUtensorMap& b, const Stages& ring, u32 n_steps,
                                           u32 row, u32 column) {
    prefetch_map(a);
    prefetch_map(b);
    constexpr u32 ROWS = TILE_N / PAIR;
    const u32 first = cluster_rank() * ROWS;
    Turn<STAGES> turn = {0, 1};
    for (u32 step = 0; step < n_steps; step++) {
        wait_for_phase(ring.free(turn.stage), turn.parity);
        const u32 full = ring.full(turn.stage), to = ring.stage(turn.stage), k = step * TILE_K;
        arrive_expecting(full, STAGE_BYTES);
        load_box(to, a, k, row, full);
        load_box_to_all(to + A_BYTES + first * ROW_BYTES, b, k, column + first, full, (1 << PAIR) - 1);
        turn.advance();
    }
}

// Every other step.
__device__ __forceinline__ void multiply_steps(float (&sums)[REGISTERS], const Stages& ring, u32 role, u32 n_steps) {
    const u64 tile_a = descriptor(ring.base), tile_b = descriptor(ring.base + A_BYTES);
    const u32 thread = threadIdx.x % WARPGROUP;
    Turn<STAGES> turn = Turn<STAGES>::after(role);
    u32 previous = 0;
    for (u32 step = role; step < n_steps; step += MULTIPLIERS) {
        wait_for_phase(ring.full(turn.stage), turn.parity);
        const u32 distance = turn.stage * STAGE_BYTES;
        add_product(sums, further(tile_a, distance), further(tile_b, distance), step != role);
        wait_for_all_but<1>();
        arrive_at_if(step != role & thread < PAIR, ring.free(previous), thread);
        previous = turn.stage;
        turn.advance();
        turn.advance();
    }
}

// Leaves half of the sums, adds what the other warpgroup has left to the half from FIRST on, and stores it.
template <u32 FIRST>
__device__ __forceinline__ void exchange(const Stages& ring, u32 role, const float (&sums)[REGISTERS],
                                         const TmaEpilogue<false>& store, u32 row, u32 column) {
    const auto left_by = [&](u32 role) { return ring.behind() + role * LEFT_BYTES + threadIdx.x % WARPGROUP * 16; };
    const u32 to = left_by(role), from = left_by(1 - role);
#pragma unroll
    for (u32 i = 0; i < HALF; i += 4) {
        const float* x = &sums[HALF - FIRST + i];
        asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};"
                     :
                     : "r"(to + i / 4 * CHUNK_BYTES), "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3])
                     : "memory");
    }
    asm volatile("barrier.cta.sync.aligned 3, %0;" ::"n"(MULTIPLIERS * WARPGROUP) : "memory");
    float half[HALF];
#pragma unroll
    for (u32 i = 0; i < HALF; i += 4) {
        float x[4];
        asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3])
                     : "r"(from + i / 4 * CHUNK_BYTES)
                     : "memory");
#pragma unroll
        for (u32 j = 0; j < 4; j++) half[i + j] = sums[FIRST + i + j] + x[j];
    }
    store.store(ring.behind() + (1 - role) * LEFT_BYTES, role, half, row, column + role * BOX_N);
    store.end();
}

}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm_small(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
               const __grid_constant__ CUtensorMap c, u32 k) {
    const Stages ring;
    const u32 role = warpgroup_index();
    if (threadIdx.x == 0) ring.make(PAIR);
    sync_cluster();
    let_next_start();
    wait_for_previous();
    const u32 n_steps = ceil_div(k, TILE_K), row = blockIdx.y * M, column = blockIdx.x * TILE_N;
    if (role == MULTIPLIERS) {
        if (is_elected()) copy_steps(a, b, ring, n_steps, row, column);
        __syncwarp();
        arrive_at_cluster();
    } else {
        float sums[REGISTERS] = {};
        multiply_steps(sums, ring, role, n_steps);
        finish(sums);
        arrive_at_cluster();
        const TmaEpilogue<false> store{c};
        if (role == 0) {
            exchange<0>(ring, role, sums, store, row, column);
        } else {
            exchange<HALF>(ring, role, sums, store, row, column);
        }
    }
    // No block ends while the other may still arrive at its barriers.
    wait_for_cluster();
}

#endif
