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

__device__ __forceinline__ unsigned chunk_index(unsigned square_row, unsigned square_column,
                                                unsigned row_in_square) {
    const unsigned line = (square_column / 8) * SQUARES + square_row;
    return row_in_square * (2 * SQUARES * 8) + line * 8 + ((square_column % 8) ^ (line % 8));
}

__device__ __forceinline__ float4 load_chunk(const float* matrix, unsigned row, unsigned column,
                                             unsigned n_rows, unsigned n_columns) {
    float4 chunk = make_float4(0, 0, 0, 0);
    if (row >= n_rows) return chunk;
    if (n_columns % CHUNK == 0) {
        if (column < n_columns) {
            chunk = *reinterpret_cast<const float4*>(matrix + element(row, column, n_columns));
        }
        return chunk;
    }
    const float* at = matrix + element(row, column, n_columns);
    if (column + 0 < n_columns) chunk.x = at[0];
    if (column + 1 < n_columns) chunk.y = at[1];
    if (column + 2 < n_columns) chunk.z = at[2];
    if (column + 3 < n_columns) chunk.w = at[3];
    return chunk;
}

__device__ __forceinline__ void store_chunk(float* matrix, unsigned row, unsigned column, unsigned n_rows,
                                            unsigned n_columns, float4 chunk) {
    if (row >= n_rows) return;
    float* at = matrix + element(row, column, n_columns);
    if (n_columns % CHUNK == 0) {
        if (column < n_columns) *reinterpret_cast<float4*>(at) = chunk;
        return;
    }
    if (column + 0 < n_columns) at[0] = chunk.x;
    if (column + 1 < n_columns) at[1] = chunk.y;
    if (column + 2 < n_columns) at[2] = chunk.z;
    if (column + 3 < n_columns) at[3] = chunk.w;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(SQUARES* SQUARES)
    transpose_vectorized(const float* input, float* output, unsigned n_rows, unsigned n_columns) {
    __shared__ float4 tile[LARGE_TILE * LARGE_TILE / CHUNK];
    const unsigned x = threadIdx.x, y = threadIdx.y;
    const unsigned first_row = blockIdx.x * LARGE_TILE, first_column = blockIdx.y * LARGE_TILE;

    float4 square[CHUNK];
#pragma unroll
    for (unsigned i = 0; i < CHUNK; ++i) {
        square[i] = load_chunk(input, first_row + y * CHUNK + i, first_column + x * CHUNK, n_rows, n_columns);
    }
#pragma unroll
    for (unsigned i = 0; i < CHUNK; ++i) tile[chunk_index(y, x, i)] = square[i];
    __syncthreads();
#pragma unroll
    for (unsigned i = 0; i < CHUNK; ++i) square[i] = tile[chunk_index(x, y, i)];

    const unsigned row = first_column + y * CHUNK, column = first_row + x * CHUNK;
    const auto store = [&](unsigned i, float4 chunk) {
        store_chunk(output, row + i, column, n_columns, n_rows, chunk);
    };
    store(0, make_float4(square[0].x, square[1].x, square[2].x, square[3].x));
    store(1, make_float4(square[0].y, square[1].y, square[2].y, square[3].y));
    store(2, make_float4(square[0].z, square[1].z, square[2].z, square[3].z));
    store(3, make_float4(square[0].w, square[1].w, square[2].w, square[3].w));
}
