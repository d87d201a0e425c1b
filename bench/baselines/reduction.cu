// CUDA C++ baselines of the kernels in gpu-kernels/src/08_reduction: the same entry
// names, parameters and launch geometry, so that one launch drives either.
#include "device.cuh"

#include <cstdint>

namespace {

constexpr uint32_t block_threads = 128;
constexpr uint32_t warp_lanes = 32;
constexpr uint32_t block_warps = block_threads / warp_lanes;
constexpr uint32_t full_mask = 0xffffffffu;

__device__ float own_element(const float *__restrict__ input, uint32_t n) {
    const uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
    return index < n ? input[index] : 0.0f;
}

__device__ void add_tree(float *values) {
    const uint32_t thread = threadIdx.x;
    __syncthreads();
    for (uint32_t stride = block_threads / 2; stride > 0; stride /= 2) {
        if (thread < stride) {
            values[thread] += values[thread + stride];
        }
        __syncthreads();
    }
}

__device__ void reduce_by_tree(float *values, const float *input, float *block_sums, uint32_t n) {
    values[threadIdx.x] = own_element(input, n);
    add_tree(values);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = values[0];
    }
}

template <uint32_t n_lanes>
__device__ float warp_sum(float value) {
#pragma unroll
    for (uint32_t stride = n_lanes / 2; stride > 0; stride /= 2) {
        value += __shfl_down_sync(full_mask, value, stride);
    }
    return value;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(block_threads)
reduce_global(float *data, float *block_sums, uint32_t n) {
    const uint32_t thread = threadIdx.x, block = blockIdx.x;
    const uint32_t first = block * block_threads;
    const uint32_t rest = n > first ? n - first : 0;
    const uint32_t len = rest < block_threads ? rest : block_threads;
    float *values = data + first;
    for (uint32_t stride = block_threads / 2; stride > 0; stride /= 2) {
        if (thread < stride && thread + stride < len) {
            values[thread] += values[thread + stride];
        }
        __syncthreads();
    }
    if (thread == 0) {
        block_sums[block] = len == 0 ? 0.0f : values[0];
    }
}

extern "C" __global__ void __launch_bounds__(block_threads)
reduce_shared(const float *input, float *block_sums, uint32_t n) {
    __shared__ float values[block_threads];
    reduce_by_tree(values, input, block_sums, n);
}

extern "C" __global__ void __launch_bounds__(block_threads)
reduce_shared_dynamic(const float *input, float *block_sums, uint32_t n) {
    extern __shared__ float dynamic_values[];
    reduce_by_tree(dynamic_values, input, block_sums, n);
}

extern "C" __global__ void __launch_bounds__(block_threads)
reduce_atomic(const float *input, float *sum, uint32_t n) {
    __shared__ float values[block_threads];
    values[threadIdx.x] = own_element(input, n);
    add_tree(values);
    if (threadIdx.x == 0) {
        atomicAdd(sum, values[0]);
    }
}

extern "C" __global__ void __launch_bounds__(block_threads)
reduce_shuffle(const float *input, float *block_sums, uint32_t n) {
    __shared__ float warp_sums[block_warps];
    const uint32_t warp = threadIdx.x / warp_lanes, lane = threadIdx.x % warp_lanes;
    float sum = warp_sum<warp_lanes>(own_element(input, n));
    if (lane == 0) {
        warp_sums[warp] = sum;
    }
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum<block_warps>(warp_sums[lane % block_warps]);
        if (lane == 0) {
            block_sums[blockIdx.x] = sum;
        }
    }
}

// --- reduce_fast -----------------------------------------------------------

namespace {

constexpr uint32_t max_threads = 1024;
constexpr uint32_t max_warps = max_threads / warp_lanes;
constexpr uint32_t chunk_items = 4;
constexpr uint32_t thread_chunks = 4;
constexpr uint32_t warp_tile_chunks = thread_chunks * warp_lanes;
constexpr uint32_t max_few_warps = 128;
constexpr uint32_t lane_words = max_few_warps / warp_lanes;

// There is no intrinsic for a load that bypasses allocation in the L1 cache.
struct LoadOnce {
    __device__ float4 operator()(const float4 *address) const {
        float4 v;
        asm volatile("ld.global.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
            : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
            : "l"(__cvta_generic_to_global(address)));
        return v;
    }
};
struct PlainLoad {
    __device__ float4 operator()(const float4 *address) const { return *address; }
};

template <typename Load>
__device__ float thread_sum(const float *values, uint32_t n, uint32_t warp, uint32_t n_warps,
                            Load load) {
    const uint32_t lane = threadIdx.x % warp_lanes;
    const uint32_t n_chunks = n / chunk_items;
    const float4 *chunks = reinterpret_cast<const float4 *>(values);
    float4 sums = make_float4(0, 0, 0, 0);
    const uint32_t rest = n_chunks * chunk_items + lane;
    if (warp == 0 && rest < n) {
        sums.x = values[rest];
    }
    const auto add = [&](float4 a, float4 b, float4 c, float4 d) {
        sums.x += (a.x + b.x) + (c.x + d.x);
        sums.y += (a.y + b.y) + (c.y + d.y);
        sums.z += (a.z + b.z) + (c.z + d.z);
        sums.w += (a.w + b.w) + (c.w + d.w);
    };
    const auto add_round = [&](uint32_t chunk) {
        const float4 *tile = chunks + chunk;
        const float4 a = load(tile), b = load(tile + warp_lanes),
                     c = load(tile + 2 * warp_lanes), d = load(tile + 3 * warp_lanes);
        add(a, b, c, d);
    };
    const auto is_whole = [&](uint32_t chunk) {
        return chunk + (thread_chunks - 1) * warp_lanes < n_chunks;
    };
    uint32_t chunk = warp * warp_tile_chunks + lane;
    if (n_chunks <= n_warps * warp_tile_chunks && is_whole(chunk)) {
        add_round(chunk);
    } else if (chunk < n_chunks) {
        while (is_whole(chunk)) {
            add_round(chunk);
            chunk += n_warps * warp_tile_chunks;
        }
        if (chunk < n_chunks) {
            const auto guarded = [&](uint32_t i) {
                const uint32_t at = chunk + i * warp_lanes;
                return at < n_chunks ? load(chunks + at) : make_float4(0, 0, 0, 0);
            };
            add(guarded(0), guarded(1), guarded(2), guarded(3));
        }
    }
    return (sums.x + sums.y) + (sums.z + sums.w);
}

__device__ float block_sum(float value, float *warp_sums) {
    const uint32_t warp = threadIdx.x / warp_lanes, lane = threadIdx.x % warp_lanes;
    const float sum = warp_sum<warp_lanes>(value);
    if (lane == 0) {
        warp_sums[warp] = sum;
    }
    __syncthreads();
    if (warp != 0) {
        return 0.0f;
    }
    const auto four = [&](uint32_t i) {
        const float4 sums = reinterpret_cast<const float4 *>(warp_sums)[i];
        return (sums.x + sums.y) + (sums.z + sums.w);
    };
    const uint32_t n_warps = blockDim.x / warp_lanes;
    if (n_warps == 4) return four(0);
    if (n_warps == 8) return four(0) + four(1);
    return warp_sum<warp_lanes>(lane < n_warps ? warp_sums[lane] : 0.0f);
}

__device__ void prefetch_l2(const void *address) {
    asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(address)) : "memory");
}

__device__ uint64_t word_of(float sum) { return uint64_t(1) << 32 | __float_as_uint(sum); }

__device__ float gathered_sum(uint64_t *words, uint32_t n_words) {
    const uint32_t lane = threadIdx.x % warp_lanes;
    uint64_t seen[lane_words];
#pragma unroll
    for (uint32_t k = 0; k < lane_words; ++k) seen[k] = word_of(0.0f);
    for (bool are_there = false; !are_there;) {
#pragma unroll
        for (uint32_t k = 0; k < lane_words; ++k) {
            const uint32_t place = k * warp_lanes + lane;
            if (place < n_words) seen[k] = load_relaxed(words + place);
        }
        are_there = true;
#pragma unroll
        for (uint32_t k = 0; k < lane_words; ++k) are_there &= seen[k] != 0;
    }
    float sum = 0.0f;
#pragma unroll
    for (uint32_t k = 0; k < lane_words; ++k) {
        const uint32_t place = k * warp_lanes + lane;
        sum += __uint_as_float(uint32_t(seen[k]));
        if (place < n_words) store_relaxed(words + place, 0);
    }
    return warp_sum<warp_lanes>(sum);
}

__device__ uint32_t inc_acq_rel(uint32_t *address, uint32_t limit) {
    uint32_t old;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(old)
                 : "l"(__cvta_generic_to_global(address)), "r"(limit)
                 : "memory");
    return old;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(max_threads)
reduce_fast(const float *input, float *sum, uint32_t n, float *block_sums, uint32_t *n_done,
            uint64_t *warp_words) {
    __shared__ alignas(16) float warp_sums[max_warps];
    __shared__ bool is_last;
    const uint32_t thread = threadIdx.x, block = blockIdx.x, n_blocks = gridDim.x;
    const uint32_t warps = blockDim.x / warp_lanes, warp = thread / warp_lanes;

    const uint32_t n_warps = n_blocks * warps, grid_warp = block * warps + warp;
    const auto value = [&] { return thread_sum(input, n, grid_warp, n_warps, LoadOnce()); };
    let_next_start();
    if (n_blocks == 1) {
        const uint32_t chunk = warp * warp_tile_chunks + thread % warp_lanes;
        if (chunk < n / chunk_items) prefetch_l2(reinterpret_cast<const float4 *>(input) + chunk);
        if (thread == 0) prefetch_l2(sum);
        wait_for_previous();
        const float own = block_sum(value(), warp_sums);
        if (thread == 0) {
            *sum = own;
        }
        return;
    }
    wait_for_previous();
    if (n_warps <= max_few_warps) {
        const float own = warp_sum<warp_lanes>(value());
        if (grid_warp != n_warps - 1) {
            if (thread % warp_lanes == 0) store_relaxed(warp_words + grid_warp, word_of(own));
            return;
        }
        const float others = gathered_sum(warp_words, n_warps - 1);
        if (thread % warp_lanes == 0) *sum = others + own;
        return;
    }
    const float own = block_sum(value(), warp_sums);
    if (thread == 0) {
        block_sums[block] = own;
        is_last = inc_acq_rel(n_done, n_blocks - 1) == n_blocks - 1;
    }
    __syncthreads();
    if (!is_last) {
        return;
    }
    const float total =
        block_sum(thread_sum(block_sums, n_blocks, warp, warps, PlainLoad()), warp_sums);
    if (thread == 0) {
        *sum = total;
    }
}
