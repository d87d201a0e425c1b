// CUDA C++ baselines of the kernels in gpu-kernels/src/06_local_memory: the same
// entry names, parameters and launch geometry, so that one launch drives
// either.
#include <cstdint>

namespace {

constexpr uint32_t block_threads = 256;

__device__ float element_or_zero(const float *input, uint32_t i, uint32_t n_elements) {
    return i < n_elements ? input[i] : 0.0f;
}

template <uint32_t W>
__device__ void mean_registers(const float *input, float *output, uint32_t n_elements) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n_elements;
         i += gridDim.x * blockDim.x) {
        const uint32_t start = i - W / 2;
        float window[W];
#pragma unroll
        for (uint32_t j = 0; j < W; ++j) window[j] = element_or_zero(input, start + j, n_elements);
        float sum = 0.0f;
#pragma unroll
        for (uint32_t j = 0; j < W; ++j) sum += window[j];
        output[i] = sum / static_cast<float>(W);
    }
}

template <uint32_t W>
__device__ void mean_local(const float *input, float *output, uint32_t n_elements) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n_elements;
         i += gridDim.x * blockDim.x) {
        const uint32_t start = i - W / 2;
        float window[W];
#pragma unroll
        for (uint32_t j = 0; j < W; ++j)
            window[(j + n_elements) % W] = element_or_zero(input, start + j, n_elements);
        float sum = 0.0f;
#pragma unroll
        for (uint32_t j = 0; j < W; ++j) sum += window[(j + n_elements) % W];
        output[i] = sum / static_cast<float>(W);
    }
}

}  // namespace

#define WINDOW(W)                                                                    \
    extern "C" __global__ void __launch_bounds__(block_threads)                      \
    running_mean_registers_##W(const float *input, float *output, uint32_t n) {      \
        mean_registers<W>(input, output, n);                                         \
    }                                                                                \
    extern "C" __global__ void __launch_bounds__(block_threads)                      \
    running_mean_local_##W(const float *input, float *output, uint32_t n) {          \
        mean_local<W>(input, output, n);                                             \
    }
WINDOW(3)
WINDOW(5)
WINDOW(16)
WINDOW(32)
WINDOW(64)
WINDOW(128)

namespace {

constexpr uint32_t chunk = 17;
constexpr uint32_t tile_threads = 384;
constexpr uint32_t group = 4;
constexpr uint32_t tile_elements = tile_threads * chunk;
constexpr uint32_t quad_elements = 4;
constexpr uint32_t tile_quads = tile_elements / quad_elements;
constexpr uint32_t thread_quads = (tile_quads + tile_threads - 1) / tile_threads;

template <typename At>
__device__ float sum_of(uint32_t n, At at) {
    float sum = 0.0f;
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) sum += (at(i) + at(i + 1)) + (at(i + 2) + at(i + 3));
    for (; i < n; ++i) sum += at(i);
    return sum;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(tile_threads, 4)
running_mean_shared(const float *input, float *output, uint32_t n_elements, uint32_t window) {
    __shared__ float4 shared_quads[tile_quads];
    __shared__ float chunk_sums[tile_threads];
    __shared__ float group_sums[tile_threads];
    float *tile = reinterpret_cast<float *>(shared_quads);
    const uint32_t thread = threadIdx.x;
    const uint32_t block_outputs = (tile_elements - window - (quad_elements - 1)) / chunk * chunk /
                                   quad_elements * quad_elements;
    const uint32_t first_output = blockIdx.x * block_outputs;
    const uint32_t first_input = first_output - window / 2;
    const uint32_t lead = first_input % quad_elements;
    const uint32_t tile_start = first_input - lead;
    float *own = tile + thread * chunk;

    float4 quads[thread_quads];
    if (tile_start < n_elements && n_elements - tile_start >= tile_elements) {
        const float4 *first = reinterpret_cast<const float4 *>(input + tile_start);
#pragma unroll
        for (uint32_t k = 0; k < thread_quads; ++k)
            if (k * tile_threads + thread < tile_quads) quads[k] = __ldg(first + k * tile_threads + thread);
    } else {
#pragma unroll
        for (uint32_t k = 0; k < thread_quads; ++k) {
            const uint32_t i = tile_start + (k * tile_threads + thread) * quad_elements;
            if (k * tile_threads + thread < tile_quads)
                quads[k] = make_float4(element_or_zero(input, i, n_elements),
                                       element_or_zero(input, i + 1, n_elements),
                                       element_or_zero(input, i + 2, n_elements),
                                       element_or_zero(input, i + 3, n_elements));
        }
    }
#pragma unroll
    for (uint32_t k = 0; k < thread_quads; ++k)
        if (k * tile_threads + thread < tile_quads)
            shared_quads[k * tile_threads + thread] = quads[k];
    __syncthreads();

    const float *elements = own + lead;
    float values[chunk];
    float chunk_sum = 0.0f;
    if (thread < tile_threads - 1) {
#pragma unroll
        for (uint32_t k = 0; k < chunk; ++k) {
            values[k] = elements[k];
            chunk_sum += values[k];
        }
    }
    chunk_sums[thread] = chunk_sum;
    __syncthreads();
    if (window >= group * chunk) {
#pragma unroll
        for (uint32_t k = 1; k < group; ++k)
            if (thread + k < tile_threads) chunk_sum += chunk_sums[thread + k];
        group_sums[thread] = chunk_sum;
        __syncthreads();
    }

    const bool has_outputs = thread * chunk < block_outputs;
    if (has_outputs) {
        const uint32_t n_groups = window / chunk / group, n_chunks = window / chunk % group,
                       n_singles = window % chunk;
        const float *groups = group_sums + thread;
        const float *chunks = chunk_sums + thread + n_groups * group;
        const float *singles = elements + (window - n_singles);
        float sum = sum_of(n_groups, [&](uint32_t i) { return groups[i * group]; }) +
                    sum_of(n_chunks, [&](uint32_t i) { return chunks[i]; }) +
                    sum_of(n_singles, [&](uint32_t i) { return singles[i]; });
        const float scale = 1.0f / static_cast<float>(window);
        const float *entering = elements + window;
#pragma unroll
        for (uint32_t k = 0; k < chunk; ++k) {
            const float leaving = values[k];
            values[k] = sum * scale;
            sum += entering[k] - leaving;
        }
    }
    __syncthreads();
    if (has_outputs) {
#pragma unroll
        for (uint32_t k = 0; k < chunk; ++k) own[k] = values[k];
    }
    __syncthreads();
    if (first_output < n_elements) {
        const uint32_t n_outputs = min(block_outputs, n_elements - first_output);
        const uint32_t n_quads = n_outputs / quad_elements, n_rest = n_outputs % quad_elements;
        float *outputs = output + first_output;
#pragma unroll
        for (uint32_t k = 0; k < thread_quads; ++k) {
            const uint32_t i = k * tile_threads + thread;
            if (i < n_quads) reinterpret_cast<float4 *>(outputs)[i] = shared_quads[i];
        }
        if (thread < n_rest) {
            const uint32_t i = n_quads * quad_elements + thread;
            outputs[i] = tile[i];
        }
    }
}
