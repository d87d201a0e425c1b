// CUDA C++ baselines of gpu-kernels/src/11_sgemm: the same entry names,
// parameters and geometry, so that one launch call drives either. The Rust kernels
// are timed against them.

#include <cuda_runtime.h>

namespace {

typedef unsigned u32;

// Element (row, column) of a matrix whose rows are n_columns long.
__device__ __forceinline__ u32 element(u32 row, u32 column, u32 n_columns) {
    return row * n_columns + column;
}

// The element, or 0 outside the matrix.
__device__ __forceinline__ float load_or_zero(const float* matrix, u32 row, u32 column, u32 n_rows,
                                              u32 n_columns) {
    return row < n_rows && column < n_columns ? matrix[element(row, column, n_columns)] : 0.0f;
}

constexpr u32 CHUNK = 4;

__device__ __forceinline__ float4 load_chunk(const float* matrix, u32 row, u32 column, u32 n_rows,
                                             u32 n_columns) {
    if (n_columns % CHUNK == 0) {
        return row < n_rows && column < n_columns
                   ? *reinterpret_cast<const float4*>(matrix + element(row, column, n_columns))
                   : make_float4(0, 0, 0, 0);
    }
    return make_float4(load_or_zero(matrix, row, column, n_rows, n_columns),
                       load_or_zero(matrix, row, column + 1, n_rows, n_columns),
                       load_or_zero(matrix, row, column + 2, n_rows, n_columns),
                       load_or_zero(matrix, row, column + 3, n_rows, n_columns));
}

__device__ __forceinline__ void store_chunk(float* matrix, u32 row, u32 column, u32 n_rows, u32 n_columns,
                                            const float* values) {
    if (n_columns % CHUNK == 0) {
        if (row < n_rows && column < n_columns) {
            *reinterpret_cast<float4*>(matrix + element(row, column, n_columns)) =
                make_float4(values[0], values[1], values[2], values[3]);
        }
    } else {
#pragma unroll
        for (u32 i = 0; i < CHUNK; i++) {
            if (row < n_rows && column + i < n_columns) matrix[element(row, column + i, n_columns)] = values[i];
        }
    }
}

// A chunk of shared memory, to four floats.
__device__ __forceinline__ void read_chunk(const float* from, float* to) {
    const float4 chunk = *reinterpret_cast<const float4*>(from);
    to[0] = chunk.x;
    to[1] = chunk.y;
    to[2] = chunk.z;
    to[3] = chunk.w;
}

}  // namespace

// ---------------------------------------------------------------------------
// One thread per element
// ---------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(32 * 8)
    sgemm_naive(const float* a, const float* b, float* c, u32 m, u32 n, u32 k) {
    const u32 row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (u32 i = 0; i < k; i++) sum = fmaf(a[element(row, i, k)], b[element(i, column, n)], sum);
    c[element(row, column, n)] = sum;
}

extern "C" __global__ void __launch_bounds__(32 * 32)
    sgemm_tiled(const float* a, const float* b, float* c, u32 m, u32 n, u32 k) {
    __shared__ float a_tile[32 * 32], b_tile[32 * 32];
    const u32 x = threadIdx.x, y = threadIdx.y;
    const u32 row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
    float sum = 0;
    for (u32 first = 0; first < k; first += 32) {
        a_tile[element(y, x, 32)] = load_or_zero(a, row, first + x, m, k);
        b_tile[element(y, x, 32)] = load_or_zero(b, first + y, column, k, n);
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < 32; i++) sum = fmaf(a_tile[element(y, i, 32)], b_tile[element(i, x, 32)], sum);
        __syncthreads();
    }
    if (row < m && column < n) c[element(row, column, n)] = sum;
}

// ---------------------------------------------------------------------------
// Many elements per thread
// ---------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(512)
    sgemm_column(const float* a, const float* b, float* c, u32 m, u32 n, u32 k) {
    __shared__ float a_tile[64 * 8], b_tile[8 * 64];
    const u32 first_row = blockIdx.y * 64, first_column = blockIdx.x * 64, thread = threadIdx.x;
    const u32 a_row = thread / 8, a_k = thread % 8, b_k = thread / 64, b_column = thread % 64;
    const u32 row = thread / 64 * 8, column = thread % 64;
    float sums[8] = {};
    for (u32 first = 0; first < k; first += 8) {
        a_tile[element(a_row, a_k, 8)] = load_or_zero(a, first_row + a_row, first + a_k, m, k);
        b_tile[element(b_k, b_column, 64)] = load_or_zero(b, first + b_k, first_column + b_column, k, n);
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            const float b_value = b_tile[element(i, column, 64)];
#pragma unroll
            for (u32 r = 0; r < 8; r++) sums[r] = fmaf(a_tile[element(row + r, i, 8)], b_value, sums[r]);
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 r = 0; r < 8; r++) {
        if (first_row + row + r < m && first_column + column < n) {
            c[element(first_row + row + r, first_column + column, n)] = sums[r];
        }
    }
}

extern "C" __global__ void __launch_bounds__(256, 2)
    sgemm_square(const float* a, const float* b, float* c, u32 m, u32 n, u32 k) {
    __shared__ float a_tile[128 * 8], b_tile[8 * 128];
    const u32 first_row = blockIdx.y * 128, first_column = blockIdx.x * 128, thread = threadIdx.x;
    const u32 a_row = thread / 8, a_k = thread % 8, b_k = thread / 128, b_column = thread % 128;
    const u32 row = thread / 16, column = thread % 16;
    float sums[8][8] = {};
    for (u32 first = 0; first < k; first += 8) {
#pragma unroll
        for (u32 pass = 0; pass < 4; pass++) {
            a_tile[element(a_row + pass * 32, a_k, 8)] =
                load_or_zero(a, first_row + a_row + pass * 32, first + a_k, m, k);
            b_tile[element(b_k + pass * 2, b_column, 128)] =
                load_or_zero(b, first + b_k + pass * 2, first_column + b_column, k, n);
        }
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            float a_values[8], b_values[8];
#pragma unroll
            for (u32 r = 0; r < 8; r++) {
                a_values[r] = a_tile[element(row + r * 16, i, 8)];
                b_values[r] = b_tile[element(i, column + r * 16, 128)];
            }
#pragma unroll
            for (u32 r = 0; r < 8; r++)
#pragma unroll
                for (u32 s = 0; s < 8; s++) sums[r][s] = fmaf(a_values[r], b_values[s], sums[r][s]);
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 r = 0; r < 8; r++)
#pragma unroll
        for (u32 s = 0; s < 8; s++) {
            const u32 at_row = first_row + row + r * 16, at_column = first_column + column + s * 16;
            if (at_row < m && at_column < n) c[element(at_row, at_column, n)] = sums[r][s];
        }
}

// ---------------------------------------------------------------------------
// 16 bytes per access
// ---------------------------------------------------------------------------

namespace {

constexpr u32 A_PITCH = 128 + CHUNK;

__device__ __forceinline__ void multiply(float (&sums)[8][8], const float* a, const float* b) {
    float a_values[8], b_values[8];
    read_chunk(a, a_values);
    read_chunk(a + 64, a_values + 4);
    read_chunk(b, b_values);
    read_chunk(b + 64, b_values + 4);
#pragma unroll
    for (u32 r = 0; r < 8; r++)
#pragma unroll
        for (u32 s = 0; s < 8; s++) sums[r][s] = fmaf(a_values[r], b_values[s], sums[r][s]);
}

__device__ __forceinline__ void store_sums(float* c, u32 row, u32 column, u32 m, u32 n,
                                           const float (&sums)[8][8]) {
#pragma unroll
    for (u32 r = 0; r < 8; r++) {
        const u32 at_row = row + r / 4 * 64 + r % 4;
        store_chunk(c, at_row, column, m, n, sums[r]);
        store_chunk(c, at_row, column + 64, m, n, sums[r] + 4);
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256, 2)
    sgemm_vectorized(const float* a, const float* b, float* c, u32 m, u32 n, u32 k) {
    __shared__ __align__(128) float a_tile[8 * A_PITCH], b_tile[8 * 128];
    const u32 first_row = blockIdx.y * 128, first_column = blockIdx.x * 128, thread = threadIdx.x;
    const u32 a_row = thread / 2, a_k = thread % 2 * 4, b_k = thread / 32, b_column = thread % 32 * 4;
    const u32 row = thread / 16 * 4, column = thread % 16 * 4;
    float sums[8][8] = {};
    for (u32 first = 0; first < k; first += 8) {
        const float4 a_chunk = load_chunk(a, first_row + a_row, first + a_k, m, k);
        const float4 b_chunk = load_chunk(b, first + b_k, first_column + b_column, k, n);
        a_tile[a_k * A_PITCH + a_row] = a_chunk.x;
        a_tile[(a_k + 1) * A_PITCH + a_row] = a_chunk.y;
        a_tile[(a_k + 2) * A_PITCH + a_row] = a_chunk.z;
        a_tile[(a_k + 3) * A_PITCH + a_row] = a_chunk.w;
        *reinterpret_cast<float4*>(b_tile + element(b_k, b_column, 128)) = b_chunk;
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < 8; i++) multiply(sums, a_tile + i * A_PITCH + row, b_tile + i * 128 + column);
        __syncthreads();
    }
    store_sums(c, first_row + row, first_column + column, m, n, sums);
}

// ---------------------------------------------------------------------------
// Asynchronous copies
// ---------------------------------------------------------------------------

namespace {

__device__ __forceinline__ void copy_4(u32 to, const float* from, bool exists) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(exists ? 4 : 0)
                 : "memory");
}
__device__ __forceinline__ void copy_16(u32 to, const float* from, bool exists) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(exists ? 16 : 0)
                 : "memory");
}
__device__ __forceinline__ void commit_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void wait_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// A thread's copies of tiles TILE_K deep and, in B, COLUMNS wide.
template <u32 TILE_K, u32 COLUMNS, bool BY_CHUNKS>
struct Copies {
    static constexpr u32 ROW_CHUNKS = COLUMNS / CHUNK, B_ROWS = 256 / ROW_CHUNKS;
    static constexpr u32 A_FLOATS = TILE_K * A_PITCH, STAGE_BYTES = (A_FLOATS + TILE_K * COLUMNS) * 4;
    const float *a, *b;
    u32 a_offsets[4], b_offsets[4], a_address, b_address, a_k, b_row, n, k;

    __device__ Copies(const float* a_, const float* b_, u32 first_row, u32 first_column, u32 m, u32 n_, u32 k_,
                      u32 shared)
        : a(a_ + static_cast<size_t>(first_row) * k_), b(b_), n(n_), k(k_) {
        const u32 thread = threadIdx.x, a_row = thread / 8, b_column = thread % ROW_CHUNKS * CHUNK;
        a_k = thread % 8;
        b_row = thread / ROW_CHUNKS;
        a_address = shared + (a_k * A_PITCH + a_row) * 4;
        b_address = shared + (A_FLOATS + b_row * COLUMNS + b_column) * 4;
#pragma unroll
        for (u32 i = 0; i < 4; i++) {
            a_offsets[i] = min(a_row + i * 32, m - 1 - first_row) * k + a_k;
            b_offsets[i] = b_row * n + min(first_column + b_column + i, n - 1);
        }
        if (BY_CHUNKS && first_column + b_column >= n) b_offsets[0] = b_row * n + n - CHUNK;
    }

    __device__ __forceinline__ void start(u32 stage, u32 depth) {
#pragma unroll
        for (u32 h = 0; h < TILE_K; h += 8)
#pragma unroll
            for (u32 i = 0; i < 4; i++)
                copy_4(a_address + stage + (h * A_PITCH + i * 32) * 4, a + a_offsets[i] + h, a_k + h < depth);
#pragma unroll
        for (u32 row = 0; row < TILE_K; row += B_ROWS) {
            const bool exists = b_row + row < depth;
            const u32 address = b_address + stage + row * COLUMNS * 4;
            if (BY_CHUNKS) {
                copy_16(address, b + (b_offsets[0] + row * n), exists);
            } else {
#pragma unroll
                for (u32 j = 0; j < 4; j++) copy_4(address + j * 4, b + (b_offsets[j] + row * n), exists);
            }
        }
        commit_group();
        a += depth;
        b += static_cast<size_t>(depth) * n;
    }
};

}  // namespace

namespace {

template <bool BY_CHUNKS>
__device__ __forceinline__ void pipelined(const float* a, const float* b, float* c, u32 m, u32 n, u32 k,
                                          float* ring) {
    typedef Copies<8, 128, BY_CHUNKS> Tile;
    constexpr u32 STAGES = 3;
    const u32 first_row = blockIdx.y * 128, first_column = blockIdx.x * 128, thread = threadIdx.x;
    const u32 row = thread / 16 * 4, column = thread % 16 * 4;
    const u32 n_tiles = (k + 7) / 8;
    Tile copies(a, b, first_row, first_column, m, n, k, static_cast<u32>(__cvta_generic_to_shared(ring)));
    copies.start(0, k - (n_tiles - 1) * 8);
    copies.start(Tile::STAGE_BYTES, 1 < n_tiles ? 8 : 0);
    float sums[8][8] = {};
    u32 stage = 0, free_stage = (STAGES - 1) * Tile::STAGE_BYTES;
#pragma unroll 1
    for (u32 tile = 0; tile < n_tiles; tile++) {
        wait_group<STAGES - 2>();
        __syncthreads();
        copies.start(free_stage, tile + STAGES - 1 < n_tiles ? 8 : 0);
        free_stage = stage;
        const float* tiles = ring + stage / 4;
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            multiply(sums, tiles + i * A_PITCH + row, tiles + Tile::A_FLOATS + i * 128 + column);
        }
        stage = stage == (STAGES - 1) * Tile::STAGE_BYTES ? 0 : stage + Tile::STAGE_BYTES;
    }
    wait_group<0>();
    store_sums(c, first_row + row, first_column + column, m, n, sums);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256, 2)
    sgemm_pipelined(const float* a, const float* b, float* c, u32 m, u32 n, u32 k) {
    __shared__ __align__(128) float ring[3 * Copies<8, 128, true>::STAGE_BYTES / 4];
    if (n % CHUNK == 0) {
        pipelined<true>(a, b, c, m, n, k, ring);
    } else {
        pipelined<false>(a, b, c, m, n, k, ring);
    }
}

// ---------------------------------------------------------------------------
// 8×16 elements per thread, 64×64 per warp
// ---------------------------------------------------------------------------

namespace {

// Where a thread's first sum is in the block's tile of C.
__device__ __forceinline__ u32 place_row() {
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    return warp % 2 * 64 + ((lane >> 1 & 1) | (lane >> 2 & 6)) * 4;
}
__device__ __forceinline__ u32 place_column() {
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    return warp / 2 * 64 + ((lane & 1) | (lane >> 1 & 2)) * 4;
}

// The values of one step along k.
struct Fragment {
    float a[8], b[16];
    __device__ __forceinline__ void load(const float* a_tile, const float* b_tile, u32 i) {
#pragma unroll
        for (u32 j = 0; j < 4; j++) read_chunk(b_tile + i * 256 + j * 16, b + 4 * j);
#pragma unroll
        for (u32 j = 0; j < 2; j++) read_chunk(a_tile + i * A_PITCH + j * 32, a + 4 * j);
    }
};

__device__ __forceinline__ void multiply(float (&sums)[8][16], const Fragment& fragment) {
#pragma unroll
    for (u32 s = 0; s < 16; s++)
#pragma unroll
        for (u32 step = 0; step < 8; step++) {
            const u32 r = s % 2 ? 7 - step : step;
            sums[r][s] = fmaf(fragment.a[r], fragment.b[s], sums[r][s]);
        }
}

__device__ __forceinline__ void store_sums(float* c, u32 row, u32 column, u32 m, u32 n,
                                           const float (&sums)[8][16]) {
#pragma unroll
    for (u32 r = 0; r < 8; r++)
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            store_chunk(c, row + r / 4 * 32 + r % 4, column + j * 16, m, n, sums[r] + 4 * j);
        }
}

template <bool BY_CHUNKS>
__device__ __forceinline__ void fast(const float* a, const float* b, float* c, u32 m, u32 n, u32 k) {
    typedef Copies<8, 256, BY_CHUNKS> Tile;
    constexpr u32 TILE_K = 8, STAGES = 4;
    extern __shared__ __align__(128) float ring[];
    const u32 first_row = blockIdx.y * 128, first_column = blockIdx.x * 256;
    const u32 row = place_row(), column = place_column();
    const u32 n_tiles = (k + TILE_K - 1) / TILE_K;
    Tile copies(a, b, first_row, first_column, m, n, k, static_cast<u32>(__cvta_generic_to_shared(ring)));
    copies.start(0, k - (n_tiles - 1) * TILE_K);
#pragma unroll
    for (u32 stage = 1; stage < STAGES; stage++) {
        copies.start(stage * Tile::STAGE_BYTES, stage < n_tiles ? TILE_K : 0);
    }
    float sums[8][16] = {};
    Fragment fragments[2];
    const float* a_tile = ring + row;
    const float* b_tile = ring + Tile::A_FLOATS + column;
    u32 stage = 0;
    wait_group<STAGES - 1>();
    __syncthreads();
    fragments[0].load(a_tile, b_tile, 0);
#pragma unroll 1
    for (u32 tile = 0; tile < n_tiles; tile++) {
#pragma unroll
        for (u32 i = 0; i < TILE_K; i++) {
            const u32 free_stage = stage;
            if (i == TILE_K - 1) {
                wait_group<STAGES - 2>();
                __syncthreads();
                stage = stage == (STAGES - 1) * Tile::STAGE_BYTES ? 0 : stage + Tile::STAGE_BYTES;
            }
            fragments[(i + 1) % 2].load(a_tile + stage / 4, b_tile + stage / 4, (i + 1) % TILE_K);
            if (i == TILE_K - 1) copies.start(free_stage, tile + STAGES < n_tiles ? TILE_K : 0);
            multiply(sums, fragments[i % 2]);
        }
    }
    wait_group<0>();
    store_sums(c, first_row + row, first_column + column, m, n, sums);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(256, 1)
    sgemm_fast(const float* a, const float* b, float* c, u32 m, u32 n, u32 k) {
    if (n % CHUNK == 0) {
        fast<true>(a, b, c, m, n, k);
    } else {
        fast<false>(a, b, c, m, n, k);
    }
}

// ---------------------------------------------------------------------------
// Warp specialization: warps that copy and warps that multiply
// ---------------------------------------------------------------------------

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

namespace {

__device__ __forceinline__ void init_barrier(u32 barrier, u32 n_arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(n_arrivals) : "memory");
}
__device__ __forceinline__ void arrive(u32 barrier) {
    asm volatile("{.reg .b64 state; mbarrier.arrive.shared.b64 state, [%0];}" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void arrive_after_copies(u32 barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void wait_for(u32 barrier, u32 parity) {
    u32 ended;
    do {
        asm volatile(
            "{.reg .pred ended; mbarrier.try_wait.parity.shared.b64 ended, [%1], %2; selp.u32 %0, 1, 0, ended;}"
            : "=r"(ended)
            : "r"(barrier), "r"(parity)
            : "memory");
    } while (!ended);
}

// Consecutive steps of one tile, done by one block.
struct Part {
    u32 tile, first, end;
};

constexpr u32 MULTIPLIERS = 256, COPIERS = 128, STAGES = 4, DEPTH = 16, COLUMNS = 256;
constexpr u32 MULTIPLIER_REGISTERS = 216, COPIER_REGISTERS = 72;
constexpr u32 A_BYTES = DEPTH * A_PITCH * 4, STAGE = A_BYTES + DEPTH * COLUMNS * 4, RING = 128;

__device__ __forceinline__ u32 vacant(u32 shared, u32 stage) { return shared + stage * 8; }
__device__ __forceinline__ u32 full(u32 shared, u32 stage) { return shared + (STAGES + stage) * 8; }

__device__ __forceinline__ u32 set_up(float* memory) {
    const u32 shared = static_cast<u32>(__cvta_generic_to_shared(memory));
    if (threadIdx.x == 0) {
        for (u32 stage = 0; stage < STAGES; stage++) {
            init_barrier(full(shared, stage), COPIERS);
            init_barrier(vacant(shared, stage), MULTIPLIERS / 32);
        }
    }
    __syncthreads();
    return shared;
}

struct Copier {
    const float *a, *b;
    u32 m, n, k, shared, stage, parity;

    __device__ Copier(const float* a_, const float* b_, u32 m_, u32 n_, u32 k_, u32 shared_)
        : a(a_), b(b_), m(m_), n(n_), k(k_), shared(shared_), stage(0), parity(1) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COPIER_REGISTERS));
    }

    template <bool BY_CHUNKS>
    __device__ __forceinline__ void copy(Part part) {
        const u32 across = (n + COLUMNS - 1) / COLUMNS;
        const u32 first_row = part.tile / across * 128, first_column = part.tile % across * COLUMNS;
        const u32 warp = (threadIdx.x - MULTIPLIERS) / 32, lane = threadIdx.x % 32;
        const u32 a_k = lane % 8, a_row = warp * 32 + lane / 8;
        const u32 first_depth = k - ((k + DEPTH - 1) / DEPTH - 1) * DEPTH;
        const u32 first_k = part.first == 0 ? 0 : first_depth + (part.first - 1) * DEPTH;
        const float* a_from = a + static_cast<size_t>(first_row) * k + first_k;
        const float* b_from = b + static_cast<size_t>(first_k) * n;
        u32 a_offsets[8], columns[8];
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            a_offsets[i] = min(a_row + i * 4, m - 1 - first_row) * k + a_k;
            columns[i] = !BY_CHUNKS ? min(first_column + i * 32 + lane, n - 1)
                         : i < 2    ? min(first_column + (i * 32 + lane) * 4, n - 4)
                                    : 0;
        }
        const u32 a_address = shared + RING + (a_k * A_PITCH + a_row) * 4;
        const u32 b_address = shared + RING + A_BYTES + warp * COLUMNS * 4 + lane * (BY_CHUNKS ? 16 : 4);
#pragma unroll 1
        for (u32 step = part.first; step < part.end; step++) {
            const u32 depth = step == 0 ? first_depth : DEPTH;
            // The multipliers free the last stage once before they begin.
            wait_for(vacant(shared, stage), parity ^ (stage == STAGES - 1));
            const u32 at = stage * STAGE;
#pragma unroll
            for (u32 i = 0; i < 8; i++) {
                const float* from = a_from + a_offsets[i];
                const u32 to = a_address + at + i * 4 * 4;
                copy_4(to, from, a_k < depth);
                copy_4(to + 8 * A_PITCH * 4, from + 8, a_k + 8 < depth);
            }
            // By elements not unrolled: nvcc would keep 32 offsets, and there are not enough registers.
#pragma unroll(BY_CHUNKS ? 4 : 1)
            for (u32 i = 0; i < 4; i++) {
                const bool exists = warp + i * 4 < depth;
                const float* row = b_from + (warp + i * 4) * n;
                const u32 to = b_address + at + i * 4 * COLUMNS * 4;
#pragma unroll
                for (u32 j = 0; j < 8; j++) {
                    if (!BY_CHUNKS) {
                        copy_4(to + j * 32 * 4, row + columns[j], exists);
                    } else if (j < 2) {
                        copy_16(to + j * 32 * 16, row + columns[j], exists);
                    }
                }
            }
            arrive_after_copies(full(shared, stage));
            a_from += depth;
            b_from += static_cast<size_t>(depth) * n;
            if (++stage == STAGES) {
                stage = 0;
                parity ^= 1;
            }
        }
    }
};

// A chunk of shared memory, by a load that the compiler cannot split.
__device__ __forceinline__ void read_chunk_at(u32 address, float* to) {
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
                 : "r"(address));
}

// The values of step i of the tiles at these addresses.
__device__ __forceinline__ void load_step(Fragment& fragment, u32 a_address, u32 b_address, u32 i) {
#pragma unroll
    for (u32 j = 0; j < 4; j++) read_chunk_at(b_address + (i * COLUMNS + j * 16) * 4, fragment.b + 4 * j);
#pragma unroll
    for (u32 j = 0; j < 2; j++) read_chunk_at(a_address + (i * A_PITCH + j * 32) * 4, fragment.a + 4 * j);
}

struct Multiplier {
    u32 shared, row, column, stage, parity, previous;

    __device__ explicit Multiplier(u32 shared_)
        : shared(shared_), row(place_row()), column(place_column()), stage(0), parity(0),
          previous(STAGES - 1) {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(MULTIPLIER_REGISTERS));
    }

    __device__ __forceinline__ void sum(Part part, float (&sums)[8][16]) {
        Fragment fragments[2];
#pragma unroll
        for (u32 r = 0; r < 8; r++) {
            fragments[1].a[r] = 0;
#pragma unroll
            for (u32 s = 0; s < 16; s++) sums[r][s] = 0;
        }
#pragma unroll
        for (u32 s = 0; s < 16; s++) fragments[1].b[s] = 0;
#pragma unroll 1
        for (u32 step = part.first; step < part.end; step++) {
            wait_for(full(shared, stage), parity);
            const u32 a_address = shared + RING + stage * STAGE + row * 4;
            const u32 b_address = shared + RING + stage * STAGE + A_BYTES + column * 4;
            load_step(fragments[0], a_address, b_address, 0);
            multiply(sums, fragments[1]);
            __syncwarp();
            if (threadIdx.x % 32 == 0) arrive(vacant(shared, previous));
            previous = stage;
            if (++stage == STAGES) {
                stage = 0;
                parity ^= 1;
            }
#pragma unroll
            for (u32 i = 0; i < DEPTH - 1; i++) {
                load_step(fragments[(i + 1) % 2], a_address, b_address, i + 1);
                multiply(sums, fragments[i % 2]);
            }
        }
        multiply(sums, fragments[1]);
    }
};

}  // namespace

extern "C" __global__ void __launch_bounds__(MULTIPLIERS + COPIERS, 1)
    sgemm_warp_specialized(const float* a, const float* b, float* c, u32 m, u32 n, u32 k) {
    extern __shared__ __align__(128) float ring[];
    const u32 shared = set_up(ring);
    const Part part = {blockIdx.x, 0, (k + DEPTH - 1) / DEPTH};
    if (threadIdx.x >= MULTIPLIERS) {
        Copier copier(a, b, m, n, k, shared);
        if (n % CHUNK == 0) {
            copier.copy<true>(part);
        } else {
            copier.copy<false>(part);
        }
        wait_group<0>();
    } else {
        Multiplier multiplier(shared);
        float sums[8][16];
        multiplier.sum(part, sums);
        const u32 across = (n + COLUMNS - 1) / COLUMNS;
        const u32 first_row = part.tile / across * 128, first_column = part.tile % across * COLUMNS;
        store_sums(c, first_row + multiplier.row, first_column + multiplier.column, m, n, sums);
    }
}

// ---------------------------------------------------------------------------
// Stream-K: equal shares
// ---------------------------------------------------------------------------

namespace {

struct StreamK {
    u32 n_tiles, n_steps, n_blocks, n_shared;
    __device__ u32 start(u32 block) const {
        return static_cast<u32>(static_cast<unsigned long long>(n_shared) * n_steps * block / n_blocks);
    }
};

struct Parts {
    StreamK stream_k;
    u32 start, end, next_tile;
    __device__ __forceinline__ bool next(Part& part) {
        if (start < end) {
            part.tile = (end - 1) / stream_k.n_steps;
            const u32 first_of_tile = part.tile * stream_k.n_steps, first = max(start, first_of_tile);
            part.first = first - first_of_tile;
            part.end = end - first_of_tile;
            end = first;
            return true;
        }
        if (next_tile < stream_k.n_tiles) {
            part.tile = next_tile;
            part.first = 0;
            part.end = stream_k.n_steps;
            next_tile += stream_k.n_blocks;
            return true;
        }
        return false;
    }
};

__device__ __forceinline__ void multipliers_meet() {
    asm volatile("bar.sync 1, %0;" ::"n"(MULTIPLIERS) : "memory");
}

// A thread's first chunk of what a block leaves.
__device__ __forceinline__ float4* chunks_left(float* left, u32 block) {
    return reinterpret_cast<float4*>(left + static_cast<size_t>(block) * 128 * COLUMNS) + threadIdx.x;
}

__device__ __forceinline__ void put_sums(float* left, u32* flags, u32 block, const float (&sums)[8][16]) {
    float4* chunks = chunks_left(left, block);
#pragma unroll
    for (u32 r = 0; r < 8; r++)
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            const float* s = sums[r] + 4 * j;
            chunks[(r * 4 + j) * MULTIPLIERS] = make_float4(s[0], s[1], s[2], s[3]);
        }
    multipliers_meet();
    if (threadIdx.x == 0) {
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flags + block) : "memory");
    }
}

__device__ __forceinline__ void add_sums(float* left, u32* flags, u32 block, float (&sums)[8][16]) {
    if (threadIdx.x == 0) {
        u32 flag;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(flag) : "l"(flags + block) : "memory");
        } while (flag == 0);
        asm volatile("st.relaxed.gpu.global.u32 [%0], 0;" ::"l"(flags + block) : "memory");
    }
    multipliers_meet();
    const float4* chunks = chunks_left(left, block);
#pragma unroll
    for (u32 r = 0; r < 8; r++)
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            const float4 chunk = chunks[(r * 4 + j) * MULTIPLIERS];
            float* s = sums[r] + 4 * j;
            s[0] += chunk.x;
            s[1] += chunk.y;
            s[2] += chunk.z;
            s[3] += chunk.w;
        }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(MULTIPLIERS + COPIERS, 1)
    sgemm_stream_k(const float* a, const float* b, float* c, u32 m, u32 n, u32 k, float* left, u32* flags) {
    extern __shared__ __align__(128) float ring[];
    const u32 shared = set_up(ring), block = blockIdx.x;
    const u32 across = (n + COLUMNS - 1) / COLUMNS, n_tiles = (m + 127) / 128 * across;
    const StreamK stream_k = {n_tiles, (k + DEPTH - 1) / DEPTH, gridDim.x, n_tiles % gridDim.x};
    Parts parts = {stream_k, stream_k.start(block), stream_k.start(block + 1), stream_k.n_shared + block};
    Part part;
    if (threadIdx.x >= MULTIPLIERS) {
        Copier copier(a, b, m, n, k, shared);
        if (n % CHUNK == 0) {
            while (parts.next(part)) copier.copy<true>(part);
        } else {
            while (parts.next(part)) copier.copy<false>(part);
        }
        wait_group<0>();
    } else {
        Multiplier multiplier(shared);
        while (parts.next(part)) {
            float sums[8][16];
            multiplier.sum(part, sums);
            if (part.end < stream_k.n_steps) {
                put_sums(left, flags, block, sums);
                continue;
            }
            for (u32 other = block;
                 part.first > 0 && other > 0 && stream_k.start(other) > part.tile * stream_k.n_steps;) {
                other--;
                if (stream_k.start(other) < stream_k.start(other + 1)) add_sums(left, flags, other, sums);
            }
            const u32 first_row = part.tile / across * 128, first_column = part.tile % across * COLUMNS;
            store_sums(c, first_row + multiplier.row, first_column + multiplier.column, m, n, sums);
        }
    }
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL
