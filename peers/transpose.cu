// CUDA C++ twins of gpu-kernels/src/transpose.rs: the same entry names, the
// same parameters, the same geometry, so that one launch call drives either.
// They are what the Rust kernels are timed against.

#include <cuda_runtime.h>

namespace {

constexpr unsigned TILE = 32;

// Element (row, column) of a matrix whose rows are n_columns long.
__device__ __forceinline__ size_t element(unsigned row, unsigned column, unsigned n_columns) {
    return row * n_columns + column;
}

struct Plain {
    static constexpr unsigned ELEMENTS = TILE * TILE;
    __device__ static unsigned at(unsigned row, unsigned column) { return row * TILE + column; }
};

struct Padded {
    static constexpr unsigned ELEMENTS = TILE * (TILE + 1);
    __device__ static unsigned at(unsigned row, unsigned column) { return row * (TILE + 1) + column; }
};

struct Swizzled {
    static constexpr unsigned ELEMENTS = TILE * TILE;
    __device__ static unsigned at(unsigned row, unsigned column) { return row * TILE + (column ^ row); }
};

template <class Layout>
__device__ __forceinline__ void transpose_tile(const float* input, float* output, unsigned n_rows,
                                               unsigned n_columns) {
    __shared__ float tile[Layout::ELEMENTS];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;

    unsigned row = first_row + y, column = first_column + x;
    if (row < n_rows && column < n_columns) {
        tile[Layout::at(y, x)] = input[element(row, column, n_columns)];
    }
    __syncthreads();
    row = first_row + x, column = first_column + y;
    if (row < n_rows && column < n_columns) {
        output[element(column, row, n_rows)] = tile[Layout::at(x, y)];
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(TILE* TILE)
    transpose_coalesced_read(const float* input, float* output, unsigned n_rows, unsigned n_columns) {
    const unsigned column = blockIdx.x * TILE + threadIdx.x;
    const unsigned row = blockIdx.y * TILE + threadIdx.y;
    if (row < n_rows && column < n_columns) {
        output[element(column, row, n_rows)] = input[element(row, column, n_columns)];
    }
}

extern "C" __global__ void __launch_bounds__(TILE* TILE)
    transpose_coalesced_write(const float* input, float* output, unsigned n_rows, unsigned n_columns) {
    const unsigned row = blockIdx.x * TILE + threadIdx.x;
    const unsigned column = blockIdx.y * TILE + threadIdx.y;
    if (row < n_rows && column < n_columns) {
        output[element(column, row, n_rows)] = input[element(row, column, n_columns)];
    }
}

extern "C" __global__ void __launch_bounds__(TILE* TILE)
    transpose_coalesced_write_ldg(const float* input, float* output, unsigned n_rows, unsigned n_columns) {
    const unsigned row = blockIdx.x * TILE + threadIdx.x;
    const unsigned column = blockIdx.y * TILE + threadIdx.y;
    if (row < n_rows && column < n_columns) {
        output[element(column, row, n_rows)] = __ldg(input + element(row, column, n_columns));
    }
}

extern "C" __global__ void __launch_bounds__(TILE* TILE)
    transpose_shared(const float* input, float* output, unsigned n_rows, unsigned n_columns) {
    transpose_tile<Plain>(input, output, n_rows, n_columns);
}

extern "C" __global__ void __launch_bounds__(TILE* TILE)
    transpose_padded(const float* input, float* output, unsigned n_rows, unsigned n_columns) {
    transpose_tile<Padded>(input, output, n_rows, n_columns);
}

extern "C" __global__ void __launch_bounds__(TILE* TILE)
    transpose_swizzled(const float* input, float* output, unsigned n_rows, unsigned n_columns) {
    transpose_tile<Swizzled>(input, output, n_rows, n_columns);
}

// 64x64 tile, 16 bytes an access: thread (x, y) loads square (y, x) of 4x4
// elements, stores its four rows to shared memory, loads square (x, y), turns
// it in registers. Chunks of a 128-byte line are in the order chunk ^ line % 8.
namespace {

constexpr unsigned LARGE_TILE = 64;
constexpr unsigned CHUNK = 4;
constexpr unsigned SQUARES = LARGE_TILE / CHUNK;
constexpr unsigned LARGE_THREADS = SQUARES * SQUARES;

__device__ __forceinline__ unsigned chunk_index(unsigned square_row, unsigned square_column,
                                                unsigned row_in_square) {
    const unsigned line = (square_column / 8) * SQUARES + square_row;
    return row_in_square * (2 * SQUARES * 8) + line * 8 + ((square_column % 8) ^ (line % 8));
}

__device__ __forceinline__ void transpose_squares(float4* tile, const float* input, float* output,
                                                  unsigned first_row, unsigned first_column,
                                                  unsigned n_rows, unsigned n_columns) {
    const unsigned x = threadIdx.x, y = threadIdx.y;
    float4 square[CHUNK];
#pragma unroll
    for (unsigned i = 0; i < CHUNK; ++i) {
        const unsigned row = first_row + y * CHUNK + i, column = first_column + x * CHUNK;
        square[i] = make_float4(0, 0, 0, 0);
        if (row < n_rows && column < n_columns) {
            square[i] = *reinterpret_cast<const float4*>(input + element(row, column, n_columns));
        }
    }
#pragma unroll
    for (unsigned i = 0; i < CHUNK; ++i) tile[chunk_index(y, x, i)] = square[i];
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < CHUNK; ++i) square[i] = tile[chunk_index(x, y, i)];

    const unsigned row = first_column + y * CHUNK, column = first_row + x * CHUNK;
    const auto store = [&](unsigned i, float4 chunk) {
        if (row + i < n_columns && column < n_rows) {
            *reinterpret_cast<float4*>(output + element(row + i, column, n_rows)) = chunk;
        }
    };
    store(0, make_float4(square[0].x, square[1].x, square[2].x, square[3].x));
    store(1, make_float4(square[0].y, square[1].y, square[2].y, square[3].y));
    store(2, make_float4(square[0].z, square[1].z, square[2].z, square[3].z));
    store(3, make_float4(square[0].w, square[1].w, square[2].w, square[3].w));
}

// Rows that start anywhere: each output row is cut at the sectors' borders before
// the multiples of 64, so that stores fill sectors; the tile has 8 rows more.
constexpr unsigned SECTOR = 8;
constexpr unsigned SHIFTED_ROWS = LARGE_TILE + SECTOR;

__device__ __forceinline__ unsigned shifted_place(unsigned row, unsigned column) {
    return row * LARGE_TILE + (column ^ (row / 4 % 8 * 4));
}

__device__ __forceinline__ void transpose_shifted(float* tile, const float* input, float* output,
                                                  unsigned first_row, unsigned first_column,
                                                  unsigned n_rows, unsigned n_columns) {
    constexpr unsigned rows_at_a_time = LARGE_THREADS / LARGE_TILE;
    constexpr unsigned n_loads = SHIFTED_ROWS / rows_at_a_time;
    const unsigned thread = threadIdx.y * SQUARES + threadIdx.x;
    const unsigned x = thread % LARGE_TILE, y = thread / LARGE_TILE;
    float values[n_loads];
#pragma unroll
    for (unsigned k = 0; k < n_loads; ++k) {
        const unsigned row = first_row + k * rows_at_a_time + y - SECTOR;
        values[k] = 0.0f;
        if (row < n_rows && first_column + x < n_columns) {
            values[k] = input[element(row, first_column + x, n_columns)];
        }
    }
#pragma unroll
    for (unsigned k = 0; k < n_loads; ++k) tile[shifted_place(k * rows_at_a_time + y, x)] = values[k];
    __syncthreads();

#pragma unroll
    for (unsigned i = 0; i < LARGE_TILE * LARGE_TILE / CHUNK / LARGE_THREADS; ++i) {
        const unsigned chunk = i * LARGE_THREADS + thread;
        const unsigned tile_column = chunk / 64 * 4 + chunk / 8 % 4;
        const unsigned column = first_column + tile_column;
        if (column >= n_columns) continue;
        const unsigned shift = unsigned(element(column, first_row, n_rows)) % SECTOR;
        const unsigned tile_row = SECTOR - shift + (chunk / 32 % 2 * 8 + chunk % 8) * CHUNK;
        const auto at = [&](unsigned j) { return tile[shifted_place(tile_row + j, tile_column)]; };
        const float4 four = make_float4(at(0), at(1), at(2), at(3));
        const unsigned row = first_row + tile_row - SECTOR;
        if (row < n_rows && row + 3 < n_rows) {
            *reinterpret_cast<float4*>(output + element(column, row, n_rows)) = four;
        } else {
            const auto store = [&](unsigned j, float value) {
                if (row + j < n_rows) output[element(column, row + j, n_rows)] = value;
            };
            store(0, four.x);
            store(1, four.y);
            store(2, four.z);
            store(3, four.w);
        }
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(LARGE_THREADS)
    transpose_vectorized(const float* input, float* output, unsigned n_rows, unsigned n_columns) {
    __shared__ float4 tile[SHIFTED_ROWS * LARGE_TILE / CHUNK];
    const unsigned first_row = blockIdx.x * LARGE_TILE, first_column = blockIdx.y * LARGE_TILE;
    if (n_columns % CHUNK == 0 && n_rows % SECTOR == 0) {
        transpose_squares(tile, input, output, first_row, first_column, n_rows, n_columns);
    } else {
        transpose_shifted(reinterpret_cast<float*>(tile), input, output, first_row, first_column, n_rows,
                          n_columns);
    }
}
