// CUDA C++ baselines of gpu-kernels/src/12_gemm/02_hopper, tiles of other widths; see gemm_hopper.cu.

#include "device.cuh"
#include "hopper_warp_specialized.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

namespace {

template <u32 BLOCKS, u32 REGISTERS>
__device__ __forceinline__ void width(const CUtensorMap& a, const CUtensorMap& b, const CUtensorMap& c,
                                      const Extents& s, u32 group) {
    let_next_start();
    wait_for_previous();
    warp_specialized<BLOCKS, false, REGISTERS>(a, b, s, group, TmaEpilogue<false>{c});
}

constexpr u32 WIDTH_THREADS = MULTIPLIERS * WARPGROUP + 32;

}  // namespace

extern "C" __global__ void __launch_bounds__(WIDTH_THREADS, 1)
    gemm_width_256(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                   const __grid_constant__ CUtensorMap c, u32 m, u32 n, u32 k, u32 group) {
    width<1, 128>(a, b, c, {m, n, k}, group);
}

extern "C" __global__ void __launch_bounds__(WIDTH_THREADS, 1)
    gemm_width_192(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                   const __grid_constant__ CUtensorMap c, u32 m, u32 n, u32 k, u32 group) {
    width<1, 96>(a, b, c, {m, n, k}, group);
}

extern "C" __global__ void __launch_bounds__(WIDTH_THREADS, 1)
    gemm_width_192_pairs(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                         const __grid_constant__ CUtensorMap c, u32 m, u32 n, u32 k, u32 group) {
    width<2, 96>(a, b, c, {m, n, k}, group);
}

#endif
