// CUDA C++ baseline of gpu-kernels/src/12_gemm/02_hopper/variants/by_mma.rs: mma.sync fed by TMA; see
// gemm_hopper.cu.

#include "hopper_warp_specialized.cuh"
#include "mma.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

namespace {

constexpr u32 WARPS = MULTIPLIERS * WARPGROUP / 32, WARP_BYTES = 16 * 64 * 2;
using Stages = Ring<STAGES, stage_bytes(TILE_N), WARPS * WARP_BYTES>;

// Where a lane's rows of a factor are in the first stage, for each step of a tile.
struct Rows {
    u32 at[4];

    static __device__ __forceinline__ Rows of_a(u32 tile, u32 lane) { return {tile, lane % 16, lane / 16}; }
    static __device__ __forceinline__ Rows of_b(u32 tile, u32 lane) {
        return {tile, lane % 8 + lane / 16 * 8, lane / 8 % 2};
    }
    __device__ __forceinline__ Rows(u32 tile, u32 row, u32 chunk) {
#pragma unroll
        for (u32 step = 0; step < 4; step++) at[step] = tile + chunk_offset<true>(row, step * 2 + chunk);
    }
};

struct Fragments {
    A a[4];
    B b[8];

    __device__ __forceinline__ void load_a(const Rows& rows, u32 stage, u32 step, u32 i) {
        ldmatrix(a[i].x, rows.at[step] + stage + i * 16 * 128);
    }
    __device__ __forceinline__ void load_b(const Rows& rows, u32 stage, u32 step, u32 i) {
        u32 x[4];
        ldmatrix(x, rows.at[step] + stage + i * 16 * 128);
        b[2 * i] = B{{x[0], x[1]}};
        b[2 * i + 1] = B{{x[2], x[3]}};
    }
};

__device__ __forceinline__ void multiply(const Stages& ring, Walk<1, TILE_N> walk, __half* c, const Sizes& s,
                                         Scale scale) {
    const u32 warp = broadcast(threadIdx.x / 32), lane = threadIdx.x % 32;
    const u32 warp_row = warp % 2 * 64, warp_column = warp / 2 * 64;
    const Rows a_rows = Rows::of_a(ring.base + warp_row * ROW_BYTES, lane);
    const Rows b_rows = Rows::of_b(ring.base + A_BYTES + warp_column * ROW_BYTES, lane);
    unsigned char* area = static_cast<unsigned char*>(__cvta_shared_to_generic(ring.behind() + warp * WARP_BYTES));

    Turn<STAGES> turn = {0, 0};
    Fragments fragments[2];
    wait_for_phase(ring.full(turn.stage), turn.parity);
#pragma unroll
    for (u32 i = 0; i < 4; i++) fragments[0].load_b(b_rows, 0, 0, i);
#pragma unroll
    for (u32 i = 0; i < 4; i++) fragments[0].load_a(a_rows, 0, 0, i);
    for (Place at; walk.next(at);) {
        Sums sums[4][8] = {};
#pragma unroll 1
        for (u32 step = 0; step < walk.n_steps;) {
            step += 1;
#pragma unroll
            for (u32 k = 0; k < 4; k++) {
                const u32 next = (k + 1) % 4;
                if (next == 0) {
                    // The whole warp has read the stage.
                    __syncwarp();
                    arrive_if(lane == 0, ring.free(turn.stage));
                    // After the last tile its first fragments are read again, but not used.
                    if (step < walk.n_steps || walk.goes_on()) {
                        turn.advance();
                        wait_for_phase(ring.full(turn.stage), turn.parity);
                    }
                }
                const u32 stage = turn.stage * stage_bytes(TILE_N);
#pragma unroll
                for (u32 i = 0; i < 4; i++) {
                    fragments[(k + 1) % 2].load_b(b_rows, stage, next, i);
#pragma unroll
                    for (u32 j = 0; j < 8; j++) {
                        const u32 column = i % 2 == 0 ? j : 7 - j;
                        mma(sums[i][column], fragments[k % 2].a[i], fragments[k % 2].b[column]);
                    }
                    fragments[(k + 1) % 2].load_a(a_rows, stage, next, i);
                }
            }
        }
        write_back(c, s, scale, area, at.row + warp_row, at.column + warp_column, sums);
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    gemm_by_mma(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, __half* c, Sizes s,
                Scale scale, u32 group) {
    const Stages ring;
    const u32 role = warpgroup_index();
    if (threadIdx.x == 0) ring.make(WARPS);
    __syncthreads();
    const Walk<1, TILE_N> walk({s.m, s.n, s.k}, group, 0);
    if (role == MULTIPLIERS) {
        give_registers<40>();
        if (is_first_of_group()) copy_tiles(a, b, ring, walk);
    } else {
        take_registers<232>();
        multiply(ring, walk, c, s, scale);
    }
}

#endif
