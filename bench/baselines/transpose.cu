// CUDA C++ baselines of gpu-kernels/src/04_transpose: the same entry names,
// parameters and geometry, so that one launch call drives either.
// The Rust kernels are timed against them.

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

// 64x64 tile, 16 bytes per access: thread (x, y) loads square (y, x) of 4x4
// elements, stores its four rows to shared memory, loads square (x, y), transposes
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

// Rows that start anywhere: a warp loads a row's chunks starting with the line that holds
// its first element, and keeps them unchanged; output rows are cut at multiples of
// CUT elements of memory, so that stores fill sectors, and the tile has CUT rows more.
constexpr unsigned WARP_LANES = 32;
constexpr unsigned LINE = 32;
constexpr unsigned CUT = 8;
constexpr unsigned PIECE = 32;
constexpr unsigned SHIFTED_ROWS = PIECE + CUT;
constexpr unsigned SHIFTED_PITCH = WARP_LANES * CHUNK;
constexpr unsigned SHIFTED_COLUMNS = SHIFTED_PITCH - LINE;
constexpr unsigned LARGE_THREADS = SQUARES * SQUARES;
constexpr unsigned LARGE_WARPS = LARGE_THREADS / WARP_LANES;
constexpr unsigned SHIFTED_GROUPS = SHIFTED_COLUMNS / 4;

__device__ __forceinline__ unsigned shifted_place(unsigned row, unsigned column) {
    return row * SHIFTED_PITCH + (column ^ (row / 4 % 8 * 4));
}

__device__ __forceinline__ float4 turned_round(float4 v, unsigned first) {
    v = first & 1 ? make_float4(v.y, v.z, v.w, v.x) : v;
    return first & 2 ? make_float4(v.z, v.w, v.x, v.y) : v;
}

// Elements first to first + 3, in one access if all exist; those that do not are 0.
__device__ __forceinline__ float4 load_chunk_inside(const float* array, unsigned first, unsigned n) {
    if (first < n && n - first >= CHUNK) return *reinterpret_cast<const float4*>(array + first);
    const auto at = [&](unsigned i) { return first + i < n ? array[first + i] : 0.0f; };
    return make_float4(at(0), at(1), at(2), at(3));
}

__device__ __forceinline__ void transpose_shifted(float* tile, const float* input, float* output,
                                                  unsigned first_row, unsigned first_column,
                                                  unsigned n_rows, unsigned n_columns) {
    constexpr unsigned n_loads = SHIFTED_ROWS / LARGE_WARPS;
    const unsigned thread = threadIdx.y * SQUARES + threadIdx.x;
    const unsigned warp = thread / WARP_LANES, lane = thread % WARP_LANES;
    const unsigned misaligned = unsigned(reinterpret_cast<size_t>(input) / sizeof(float)) % LINE;
    const auto place_in_line = [&](unsigned row) {
        return (row * n_columns + first_column + misaligned) % LINE;
    };

    // The lane's chunk, counted from the one with the row's first element, and the index
    // of its own first element, if it has elements of the row.
    const auto tile_row_of = [&](unsigned k) { return k * LARGE_WARPS + warp; };
    const auto chunk_of = [&](unsigned k) {
        return lane - place_in_line(first_row + tile_row_of(k) - CUT) / CHUNK;
    };
    const auto has_first = [&](unsigned k, unsigned& first) {
        const unsigned row = first_row + tile_row_of(k) - CUT, chunk = chunk_of(k);
        const unsigned column = first_column + chunk * CHUNK - place_in_line(row) % CHUNK;
        first = row * n_columns + column;
        const bool begins_in_row = column + (CHUNK - 1) < n_columns + (CHUNK - 1);
        return row < n_rows && chunk < WARP_LANES && begins_in_row;
    };
    float4 chunks[n_loads];
    unsigned first;
    // Only in the matrix's first and last row can a chunk stick out of it.
    if (first_row == 0 || first_row + PIECE >= n_rows) {
#pragma unroll
        for (unsigned k = 0; k < n_loads; ++k) {
            chunks[k] = make_float4(0, 0, 0, 0);
            if (has_first(k, first)) chunks[k] = load_chunk_inside(input, first, n_rows * n_columns);
        }
    } else {
#pragma unroll
        for (unsigned k = 0; k < n_loads; ++k) {
            chunks[k] = make_float4(0, 0, 0, 0);
            if (has_first(k, first)) chunks[k] = *reinterpret_cast<const float4*>(input + first);
        }
    }
#pragma unroll
    for (unsigned k = 0; k < n_loads; ++k) {
        const unsigned chunk = chunk_of(k);
        if (chunk < WARP_LANES) {
            *reinterpret_cast<float4*>(tile + shifted_place(tile_row_of(k), chunk * CHUNK)) = chunks[k];
        }
    }
    __syncthreads();

#pragma unroll
    for (unsigned i = 0; i < SHIFTED_GROUPS / LARGE_WARPS; ++i) {
        const unsigned group = i * LARGE_WARPS + warp;
        const unsigned tile_column = group * 4 + lane / 8;
        const unsigned column = first_column + tile_column;
        if (column >= n_columns) continue;
        const unsigned shift = unsigned(element(column, first_row, n_rows)) % CUT;
        const unsigned tile_row = CUT - shift + lane % 8 * CHUNK;
        const auto at = [&](unsigned j) {
            const unsigned row = tile_row + (j - tile_row) % CHUNK;
            return tile[shifted_place(row, tile_column + place_in_line(j) % CHUNK)];
        };
        const float4 four = turned_round(make_float4(at(0), at(1), at(2), at(3)), tile_row);
        const unsigned row = first_row + tile_row - CUT;
        if (row < n_rows && n_rows - row >= CHUNK) {
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
    __shared__ float4 tile[SHIFTED_ROWS * SHIFTED_PITCH / CHUNK];
    const unsigned tile_row = blockIdx.x, tile_column = blockIdx.y;
    if (n_columns % LINE == 0 && n_rows % LINE == 0) {
        transpose_squares(tile, input, output, tile_row * LARGE_TILE, tile_column * LARGE_TILE, n_rows,
                          n_columns);
    } else {
        transpose_shifted(reinterpret_cast<float*>(tile), input, output, tile_row * PIECE,
                          tile_column * SHIFTED_COLUMNS, n_rows, n_columns);
    }
}
