// CUDA C++ baselines of the kernels in gpu-kernels/src/02_coalescing.rs: the same
// entry names, parameters and launch geometry, so that one launch drives
// either. The Rust kernels' speed is compared with theirs.
#include <cstdint>

namespace {

constexpr uint32_t vectorized_block_threads = 1024;
constexpr uint32_t chunk = 4;

__device__ float4 add_chunks(float4 x, float4 y) {
    return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
}

}  // namespace

extern "C" __global__ void add(const float *x, const float *y, float *z, uint32_t n_elements) {
    const uint32_t n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < n_elements) z[n] = x[n] + y[n];
}

extern "C" __global__ void add_permuted(const float *x, const float *y, float *z,
                                        uint32_t n_elements) {
    const uint32_t n = blockIdx.x * blockDim.x + (threadIdx.x ^ 1);
    if (n < n_elements) z[n] = x[n] + y[n];
}

extern "C" __global__ void add_offset(const float *x, const float *y, float *z,
                                      uint32_t n_elements) {
    const uint32_t n = blockIdx.x * blockDim.x + threadIdx.x + 1;
    if (n < n_elements) z[n] = x[n] + y[n];
}

extern "C" __global__ void add_stride(const float *x, const float *y, float *z,
                                      uint32_t n_elements) {
    const uint32_t n = blockIdx.x + threadIdx.x * gridDim.x;
    if (n < n_elements) z[n] = x[n] + y[n];
}

extern "C" __global__ void add_broadcast(const float *x, const float *y, float *z,
                                         uint32_t n_elements) {
    const uint32_t n = blockIdx.x * blockDim.x + threadIdx.x;
    if (n < n_elements) z[n] = x[0] + y[n];
}

extern "C" __global__ void __launch_bounds__(vectorized_block_threads)
add_vectorized(const float *x, const float *y, float *z, uint32_t n_elements) {
    const uint32_t first = (blockIdx.x * vectorized_block_threads + threadIdx.x) * chunk;
    if (first + chunk <= n_elements) {
        __stcs(reinterpret_cast<float4 *>(z + first),
               add_chunks(*reinterpret_cast<const float4 *>(x + first),
                          *reinterpret_cast<const float4 *>(y + first)));
    } else {
        for (uint32_t n = first; n < n_elements; ++n) z[n] = x[n] + y[n];
    }
}
