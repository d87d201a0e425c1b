// CUDA C++ baselines of the kernels in gpu-kernels/src/01_copy.rs: the same entry
// names, parameters and launch geometry, so that one launch drives either.
#include <cstdint>

namespace {

constexpr uint32_t block_threads = 256;
constexpr uint32_t chunk = 4;

}  // namespace

extern "C" __global__ void __launch_bounds__(block_threads)
copy(const float *input, float *output, uint32_t n_elements) {
    const uint32_t n = blockIdx.x * block_threads + threadIdx.x;
    if (n < n_elements) output[n] = input[n];
}

extern "C" __global__ void __launch_bounds__(block_threads)
copy_vectorized(const float *input, float *output, uint32_t n_elements) {
    const uint32_t first = (blockIdx.x * block_threads + threadIdx.x) * chunk;
    if (first + chunk <= n_elements) {
        *reinterpret_cast<float4 *>(output + first) =
            *reinterpret_cast<const float4 *>(input + first);
    } else {
        for (uint32_t n = first; n < n_elements; ++n) output[n] = input[n];
    }
}
