// CUDA C++ baselines of the kernels in gpu-kernels/src/03_bank_conflicts and
// gpu-kernels/src/05_swizzled_tile.rs: the same entry names, parameters and launch
// geometry, so that one launch drives either.
#include <cstdint>

namespace {

constexpr uint32_t rows = 32;
constexpr uint32_t columns = 32;
constexpr uint32_t block_threads = rows * columns;
// Widths 1 to 33: width 31 takes the most words, in two strips.
constexpr uint32_t max_strip_words = 2 * rows * 31;

__device__ uint32_t strip_word(uint32_t row, uint32_t column, uint32_t width) {
    return (column / width * rows + row) * width + column % width;
}

__device__ uint32_t strip_words(uint32_t width) {
    return (columns + width - 1) / width * rows * width;
}

__device__ bool strip_word_is_used(uint32_t word, uint32_t width) {
    return word / rows / width * width + word % width < columns;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(block_threads)
bank_warm_up(const float *input, float *output) {
    __shared__ float data[rows][columns];
    const uint32_t lane = threadIdx.x, warp = threadIdx.y;
    data[warp][lane] = input[warp * columns + lane];
    __syncthreads();
    output[warp * columns + lane] = data[rows - 1 - warp][lane];
}

extern "C" __global__ void __launch_bounds__(block_threads)
bank_store_rows(const float *input, float *output) {
    __shared__ float data[rows][columns];
    const uint32_t lane = threadIdx.x, warp = threadIdx.y;
    data[rows - 1 - warp][lane] = input[warp * columns + lane];
    __syncthreads();
    output[warp * columns + lane] = data[warp][lane];
}

extern "C" __global__ void __launch_bounds__(block_threads)
bank_store_columns(const float *input, float *output) {
    __shared__ float data[rows][columns];
    const uint32_t lane = threadIdx.x, warp = threadIdx.y;
    data[lane][warp] = input[warp * columns + lane];
    __syncthreads();
    output[warp * columns + lane] = data[warp][lane];
}

extern "C" __global__ void __launch_bounds__(block_threads)
bank_load_rows(const float *input, float *output) {
    __shared__ float data[rows][columns];
    const uint32_t lane = threadIdx.x, warp = threadIdx.y;
    data[warp][lane] = input[warp * columns + lane];
    __syncthreads();
    output[warp * columns + lane] = data[rows - 1 - warp][lane];
}

extern "C" __global__ void __launch_bounds__(block_threads)
bank_load_columns(const float *input, float *output) {
    __shared__ float data[rows][columns];
    const uint32_t lane = threadIdx.x, warp = threadIdx.y;
    data[warp][lane] = input[warp * columns + lane];
    __syncthreads();
    output[warp * columns + lane] = data[lane][warp];
}

extern "C" __global__ void __launch_bounds__(block_threads)
bank_store_width(const float *input, float *output, uint32_t width, uint32_t n_rounds) {
    __shared__ float data[max_strip_words];
    const uint32_t lane = threadIdx.x, warp = threadIdx.y;
    const float value = input[warp * columns + lane];
    volatile float *own = data + strip_word(lane, warp, width);
    for (uint32_t round = 0; round < n_rounds; ++round) *own = value;
    __syncthreads();
    for (uint32_t i = warp * columns + lane; i < strip_words(width); i += block_threads)
        if (strip_word_is_used(i, width)) output[i] = data[i];
}

extern "C" __global__ void __launch_bounds__(block_threads)
bank_load_width(const float *input, float *output, uint32_t width, uint32_t n_rounds) {
    __shared__ float data[max_strip_words];
    const uint32_t lane = threadIdx.x, warp = threadIdx.y;
    for (uint32_t i = warp * columns + lane; i < strip_words(width); i += block_threads)
        if (strip_word_is_used(i, width)) data[i] = input[i];
    __syncthreads();
    const volatile float *own = data + strip_word(lane, warp, width);
    float sum = 0.0f;
    for (uint32_t round = 0; round < n_rounds; ++round) sum += *own;
    output[warp * columns + lane] = sum;
}

// The 32x16 tile.

namespace {

constexpr uint32_t tile_rows = 32;
constexpr uint32_t tile_columns = 16;
constexpr uint32_t tile_elements = tile_rows * tile_columns;

template <typename Layout>
__device__ void turn(float *tile, Layout layout, const float *input, float *output) {
    const uint32_t own = threadIdx.x;
    tile[layout(own / tile_columns, own % tile_columns)] = input[own];
    __syncthreads();
    output[own] = tile[layout(own % tile_rows, own / tile_rows)];
}

struct Plain {
    __device__ uint32_t operator()(uint32_t row, uint32_t column) const {
        return row * tile_columns + column;
    }
};

struct SwizzledRows {
    __device__ uint32_t operator()(uint32_t row, uint32_t column) const {
        return row * tile_columns + (column ^ (row % tile_columns));
    }
};

struct SwizzledLines {
    __device__ uint32_t operator()(uint32_t row, uint32_t column) const {
        return row * tile_columns + (column ^ (row / 2));
    }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(tile_elements)
tile_column_plain(const float *input, float *output) {
    __shared__ float tile[tile_elements];
    turn(tile, Plain(), input, output);
}

extern "C" __global__ void __launch_bounds__(tile_elements)
tile_column_swizzled_rows(const float *input, float *output) {
    __shared__ float tile[tile_elements];
    turn(tile, SwizzledRows(), input, output);
}

extern "C" __global__ void __launch_bounds__(tile_elements)
tile_column_swizzled_lines(const float *input, float *output) {
    __shared__ float tile[tile_elements];
    turn(tile, SwizzledLines(), input, output);
}
