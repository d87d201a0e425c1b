// CUDA C++ twins of the kernels in gpu-kernels/src/copy.rs: the same entry
// names, parameters and launch geometry, so that one launch drives either.
#include <cstdint>

namespace {

constexpr uint32_t block_threads = 256;
constexpr uint32_t chunk = 4;
constexpr uint32_t loads = 4;
constexpr uint32_t block_elements = block_threads * chunk * loads;

}  // namespace

extern "C" __global__ void __launch_bounds__(block_threads)
copy(const float *input, float *output, uint32_t n_elements) {
    const uint32_t n = blockIdx.x * block_threads + threadIdx.x;
    if (n < n_elements) output[n] = input[n];
}

extern "C" __global__ void __launch_bounds__(block_threads)
copy_vectorized(const float *input, float *output, uint32_t n_elements) {
    if ((blockIdx.x + 1) * block_elements <= n_elements) {
        const uint32_t first = blockIdx.x * block_elements + threadIdx.x * chunk;
        float4 chunks[loads];
#pragma unroll
        for (uint32_t i = 0; i < loads; ++i)
            chunks[i] =
                *reinterpret_cast<const float4 *>(input + first + i * block_threads * chunk);
#pragma unroll
        for (uint32_t i = 0; i < loads; ++i)
            *reinterpret_cast<float4 *>(output + first + i * block_threads * chunk) = chunks[i];
    } else {
        uint32_t n = blockIdx.x * block_elements + threadIdx.x;
        for (; n < n_elements; n += block_threads) output[n] = input[n];
    }
}
