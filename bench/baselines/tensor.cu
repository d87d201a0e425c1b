// CUDA C++ baselines of the kernels in gpu-kernels/src/10_tensor: the same entry names,
// parameters and launch geometry, so that one launch drives either. The probes of
// single instructions have no baseline: they are the instructions.
#include <cstdint>

// Not every type uses all of its constants.
#pragma nv_diag_suppress 177

namespace {

// An f16 as bits: nothing here computes with single ones.
struct half_t {
    uint16_t bits;
};

constexpr uint32_t side = 16;
constexpr uint32_t matrix = side * side;
constexpr uint32_t chunk_elements = 8;
constexpr uint32_t warp_threads = 32;

// Layouts: where element `offset`, counted row by row, lies.
struct Plain {
    static constexpr uint32_t padding = 0;
    __device__ static uint32_t place(uint32_t offset) { return offset; }
};
template <uint32_t P>
struct Padded {
    static constexpr uint32_t padding = P;
    __device__ static uint32_t place(uint32_t offset) { return offset; }
};
template <uint32_t B, uint32_t M, uint32_t S>
struct Swizzle {
    static_assert(S >= B, "bits XORed with themselves");
    static constexpr uint32_t padding = 0;
    __device__ static uint32_t place(uint32_t offset) {
        return offset ^ (offset >> S & ((1u << B) - 1) << M);
    }
};
template <class First, class Second>
struct Composed {
    static constexpr uint32_t padding = 0;
    __device__ static uint32_t place(uint32_t offset) {
        return Second::place(First::place(offset));
    }
};

template <uint32_t ROWS, uint32_t COLUMNS, class L>
struct Tile {
    static constexpr uint32_t rows = ROWS, columns = COLUMNS;
    static constexpr uint32_t pitch = COLUMNS + L::padding;
    static constexpr uint32_t n_elements = ROWS * pitch;
    half_t *base;
    __device__ half_t *at(uint32_t row, uint32_t column) const {
        return base + L::place(row * pitch + column);
    }
    __device__ uint32_t address(uint32_t row, uint32_t column) const {
        return static_cast<uint32_t>(__cvta_generic_to_shared(at(row, column)));
    }
};

#define SHARED_TILE(name, type)                                 \
    __shared__ __align__(128) half_t name##_memory[type::n_elements]; \
    const type name{name##_memory}

struct FragmentA { uint32_t r[4]; };
struct FragmentB { uint32_t r[2]; };
struct FragmentC { float r[4]; };
struct FragmentCHalf { uint32_t r[2]; };
struct Pair { FragmentC left, right; };

__device__ uint32_t lane_id() { return threadIdx.x % warp_threads; }

__device__ FragmentA ldmatrix_x4(uint32_t address) {
    FragmentA f;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f.r[0]), "=r"(f.r[1]), "=r"(f.r[2]), "=r"(f.r[3]) : "r"(address) : "memory");
    return f;
}

__device__ FragmentA ldmatrix_x4_trans(uint32_t address) {
    FragmentA f;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f.r[0]), "=r"(f.r[1]), "=r"(f.r[2]), "=r"(f.r[3]) : "r"(address) : "memory");
    return f;
}

__device__ FragmentC mma(const FragmentA &a, const FragmentB &b, FragmentC c) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c.r[0]), "+f"(c.r[1]), "+f"(c.r[2]), "+f"(c.r[3])
                 : "r"(a.r[0]), "r"(a.r[1]), "r"(a.r[2]), "r"(a.r[3]), "r"(b.r[0]), "r"(b.r[1]));
    return c;
}

__device__ FragmentCHalf mma_k8_half(uint32_t a0, uint32_t a1, uint32_t b, FragmentCHalf c) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
                 : "+r"(c.r[0]), "+r"(c.r[1]) : "r"(a0), "r"(a1), "r"(b));
    return c;
}

// Row and column, in a 16×16 block, of the matrix row that a lane names.
__device__ uint32_t quad_row(uint32_t lane) { return lane % 16; }
__device__ uint32_t quad_column(uint32_t lane) { return lane / 16 * chunk_elements; }

template <class T>
__device__ FragmentA load_a(const T &tile, uint32_t row, uint32_t column) {
    const uint32_t lane = lane_id();
    return ldmatrix_x4(tile.address(row + quad_row(lane), column + quad_column(lane)));
}

template <class T>
__device__ FragmentA load_block_trans(const T &tile, uint32_t row, uint32_t column) {
    const uint32_t lane = lane_id();
    return ldmatrix_x4_trans(tile.address(row + quad_row(lane), column + quad_column(lane)));
}

// A block of Bᵀ as the two right operands, and one of B.
__device__ Pair multiply_transposed(const FragmentA &a, const FragmentA &bt, Pair c) {
    return {mma(a, {bt.r[0], bt.r[2]}, c.left), mma(a, {bt.r[1], bt.r[3]}, c.right)};
}
__device__ Pair multiply(const FragmentA &a, const FragmentA &b, Pair c) {
    return {mma(a, {b.r[0], b.r[1]}, c.left), mma(a, {b.r[2], b.r[3]}, c.right)};
}

__device__ FragmentCHalf to_half(const FragmentC &c) {
    FragmentCHalf h;
    asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(h.r[0]) : "f"(c.r[0]), "f"(c.r[1]));
    asm("cvt.rn.f16x2.f32 %0, %2, %1;" : "=r"(h.r[1]) : "f"(c.r[2]), "f"(c.r[3]));
    return h;
}

template <uint32_t N_THREADS, class T>
__device__ void fill(const T &tile, const half_t *input, uint32_t thread) {
#pragma unroll
    for (uint32_t chunk = thread; chunk < T::rows * T::columns / chunk_elements; chunk += N_THREADS) {
        const uint32_t element = chunk * chunk_elements;
        *reinterpret_cast<uint4 *>(tile.at(element / T::columns, element % T::columns)) =
            reinterpret_cast<const uint4 *>(input)[chunk];
    }
}

template <uint32_t N_THREADS, class T>
__device__ void drain(const T &tile, half_t *output, uint32_t thread) {
#pragma unroll
    for (uint32_t chunk = thread; chunk < T::rows * T::columns / chunk_elements; chunk += N_THREADS) {
        const uint32_t element = chunk * chunk_elements;
        reinterpret_cast<uint4 *>(output)[chunk] =
            *reinterpret_cast<const uint4 *>(tile.at(element / T::columns, element % T::columns));
    }
}

template <class T>
__device__ void store_c(const T &tile, uint32_t row, uint32_t column, const FragmentCHalf &c) {
    const uint32_t lane = lane_id(), r = lane / 4, k = lane % 4 * 2;
    *reinterpret_cast<uint32_t *>(tile.at(row + r, column + k)) = c.r[0];
    *reinterpret_cast<uint32_t *>(tile.at(row + r + 8, column + k)) = c.r[1];
}

__device__ void write_result(float *output, uint32_t pitch, const Pair &c) {
    const uint32_t lane = lane_id(), r = lane / 4, k = lane % 4 * 2;
    const auto at = [&](uint32_t row, uint32_t column) {
        return reinterpret_cast<float2 *>(output + (row + r) * pitch + column + k);
    };
    *at(0, 0) = make_float2(c.left.r[0], c.left.r[1]);
    *at(8, 0) = make_float2(c.left.r[2], c.left.r[3]);
    *at(0, 8) = make_float2(c.right.r[0], c.right.r[1]);
    *at(8, 8) = make_float2(c.right.r[2], c.right.r[3]);
}

template <class L>
using Tile16 = Tile<16, 16, L>;
template <class L>
using Tile32 = Tile<16, 32, L>;
template <class L>
using Tile64 = Tile<16, 64, L>;
template <class L>
using Tile256 = Tile<16, 256, L>;

using Swizzled16 = Swizzle<1, 3, 3>;
using Swizzled32 = Swizzle<2, 3, 3>;
using Swizzled64 = Swizzle<3, 3, 3>;
using ByColumns = Swizzle<3, 3, 5>;
using ByRows = Swizzle<1, 3, 3>;
using Both = Composed<Swizzle<3, 3, 5>, Swizzle<1, 3, 3>>;

}  // namespace

// C = A·Bᵀ of 16×16 matrices.
#define MMA_SIMPLE(name, layout, store)                                                      \
    extern "C" __global__ void __launch_bounds__(warp_threads)                               \
    name(const half_t *a, const half_t *b, half_t *c) {                                      \
        SHARED_TILE(a_tile, Tile16<layout>);                                                 \
        SHARED_TILE(b_tile, Tile16<layout>);                                                 \
        SHARED_TILE(c_tile, Tile16<layout>);                                                 \
        const uint32_t lane = lane_id(), problem = blockIdx.x * matrix;                      \
        fill<warp_threads>(a_tile, a + problem, lane);                                       \
        fill<warp_threads>(b_tile, b + problem, lane);                                       \
        __syncwarp();                                                                        \
        const Pair product = multiply_transposed(load_a(a_tile, 0, 0), load_a(b_tile, 0, 0), {}); \
        const FragmentCHalf left = to_half(product.left), right = to_half(product.right);    \
        store;                                                                               \
        __syncwarp();                                                                        \
        drain<warp_threads>(c_tile, c + problem, lane);                                      \
    }

#define BY_REGISTERS store_c(c_tile, 0, 0, left), store_c(c_tile, 0, 8, right)
#define BY_STMATRIX                                                                          \
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::       \
                 "r"(c_tile.address(quad_row(lane), quad_column(lane))), "r"(left.r[0]),     \
                 "r"(left.r[1]), "r"(right.r[0]), "r"(right.r[1]) : "memory")

MMA_SIMPLE(mma_simple_plain, Plain, BY_REGISTERS)
MMA_SIMPLE(mma_simple_padded, Padded<8>, BY_REGISTERS)
MMA_SIMPLE(mma_simple_swizzled, Swizzled16, BY_REGISTERS)
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
MMA_SIMPLE(mma_simple_stmatrix_plain, Plain, BY_STMATRIX)
MMA_SIMPLE(mma_simple_stmatrix_swizzled, Swizzled16, BY_STMATRIX)
#endif

extern "C" __global__ void __launch_bounds__(warp_threads)
mma_simple_f16(const half_t *a, const half_t *b, half_t *c) {
    SHARED_TILE(a_tile, Tile16<Swizzled16>);
    SHARED_TILE(b_tile, Tile16<Swizzled16>);
    SHARED_TILE(c_tile, Tile16<Swizzled16>);
    const uint32_t lane = lane_id(), problem = blockIdx.x * matrix;
    fill<warp_threads>(a_tile, a + problem, lane);
    fill<warp_threads>(b_tile, b + problem, lane);
    __syncwarp();
    const FragmentA x = load_a(a_tile, 0, 0), y = load_a(b_tile, 0, 0);
    const FragmentCHalf left =
        mma_k8_half(x.r[2], x.r[3], y.r[2], mma_k8_half(x.r[0], x.r[1], y.r[0], {}));
    const FragmentCHalf right =
        mma_k8_half(x.r[2], x.r[3], y.r[3], mma_k8_half(x.r[0], x.r[1], y.r[1], {}));
    store_c(c_tile, 0, 0, left);
    store_c(c_tile, 0, 8, right);
    __syncwarp();
    drain<warp_threads>(c_tile, c + problem, lane);
}

// G = A·Aᵀ from a plain tile, with the usual addresses and with others.
extern "C" __global__ void __launch_bounds__(warp_threads)
address_order_plain(const half_t *a, float *g) {
    SHARED_TILE(tile, Tile16<Plain>);
    const uint32_t problem = blockIdx.x * matrix;
    fill<warp_threads>(tile, a + problem, lane_id());
    __syncwarp();
    const FragmentA block = load_a(tile, 0, 0);
    write_result(g + problem, side, multiply_transposed(block, block, {}));
}

extern "C" __global__ void __launch_bounds__(warp_threads)
address_order_swapped(const half_t *a, float *g) {
    SHARED_TILE(tile, Tile16<Plain>);
    const uint32_t lane = lane_id(), problem = blockIdx.x * matrix;
    fill<warp_threads>(tile, a + problem, lane);
    __syncwarp();
    const uint32_t row = quad_row(lane);
    const FragmentA r = ldmatrix_x4(tile.address(row, quad_column(lane) ^ row / 4 % 2 * chunk_elements));
    const FragmentA block = lane >= 16 ? FragmentA{r.r[2], r.r[3], r.r[0], r.r[1]} : r;
    write_result(g + problem, side, multiply_transposed(block, block, {}));
}

// Blocks from wider tiles.
#define WIDE(name, tile_type, product)                                       \
    extern "C" __global__ void __launch_bounds__(warp_threads)               \
    name(const half_t *input, float *output) {                               \
        SHARED_TILE(tile, tile_type);                                        \
        fill<warp_threads>(tile, input + blockIdx.x * side * tile.columns, lane_id()); \
        __syncwarp();                                                        \
        Pair sum = {};                                                       \
        product;                                                             \
        write_result(output + blockIdx.x * matrix, side, sum);               \
    }

#define LEFT_RIGHT_TRANSPOSED sum = multiply_transposed(load_a(tile, 0, 0), load_a(tile, 0, side), sum)
#define LEFT_RIGHT sum = multiply(load_a(tile, 0, 0), load_block_trans(tile, 0, side), sum)
#define GRAM(n)                                              \
    _Pragma("unroll") for (uint32_t i = 0; i < n; i++) {     \
        const FragmentA block = load_a(tile, 0, i * side);   \
        sum = multiply_transposed(block, block, sum);        \
    }

WIDE(tile32_plain, Tile32<Plain>, LEFT_RIGHT_TRANSPOSED)
WIDE(tile32_swizzled, Tile32<Swizzled32>, LEFT_RIGHT_TRANSPOSED)
WIDE(tile64_one_plain, Tile64<Plain>, GRAM(1))
WIDE(tile64_one_swizzled, Tile64<Swizzled64>, GRAM(1))
WIDE(tile64_all_plain, Tile64<Plain>, GRAM(4))
WIDE(tile64_all_swizzled, Tile64<Swizzled64>, GRAM(4))
WIDE(tile32_product_plain, Tile32<Plain>, LEFT_RIGHT)
WIDE(tile32_product_swizzled, Tile32<Swizzled32>, LEFT_RIGHT)

// Aⁿ by squaring.
namespace {

template <class T>
__device__ void store_operand(const T &tile, const FragmentA &a) {
    store_c(tile, 0, 0, {a.r[0], a.r[1]});
    store_c(tile, 0, 8, {a.r[2], a.r[3]});
}

__device__ FragmentA as_operand(const Pair &c) {
    const FragmentCHalf left = to_half(c.left), right = to_half(c.right);
    return {left.r[0], left.r[1], right.r[0], right.r[1]};
}

__device__ uint32_t identity_register(uint32_t lane, uint32_t r) {
    constexpr uint32_t one = 0x3C00;
    const uint32_t row = lane / 4 + r % 2 * 8, column = lane % 4 * 2 + r / 2 * 8;
    return (row == column ? one : 0) | (row == column + 1 ? one << 16 : 0);
}

template <class T>
__device__ void power(const T &tile, const half_t *input, half_t *output, uint32_t n) {
    const uint32_t lane = lane_id(), problem = blockIdx.x * matrix;
    fill<warp_threads>(tile, input + problem, lane);
    __syncwarp();
    FragmentA result = {identity_register(lane, 0), identity_register(lane, 1),
                        identity_register(lane, 2), identity_register(lane, 3)};
    bool has_factor = false;
    for (uint32_t digits = n; digits != 0; digits /= 2) {
        const FragmentA base = load_a(tile, 0, 0), right = load_block_trans(tile, 0, 0);
        const FragmentA product = as_operand(multiply(result, right, {}));
        const FragmentA square = as_operand(multiply(base, right, {}));
        if (digits % 2 == 1) {
            result = has_factor ? product : base;
            has_factor = true;
        }
        __syncwarp();
        store_operand(tile, square);
        __syncwarp();
    }
    store_operand(tile, result);
    __syncwarp();
    drain<warp_threads>(tile, output + problem, lane);
}

}  // namespace

extern "C" __global__ void __launch_bounds__(warp_threads)
matrix_power_plain(const half_t *input, half_t *output, uint32_t n) {
    SHARED_TILE(tile, Tile16<Plain>);
    power(tile, input, output, n);
}

extern "C" __global__ void __launch_bounds__(warp_threads)
matrix_power_swizzled(const half_t *input, half_t *output, uint32_t n) {
    SHARED_TILE(tile, Tile16<Swizzled16>);
    power(tile, input, output, n);
}

// One 16×256 tile, by columns and by rows.
namespace {

constexpr uint32_t columns = 256;
constexpr uint32_t elements = side * columns;
constexpr uint32_t block_threads = 512;

template <class T>
__device__ void copy_async(const T &tile, const half_t *input, uint32_t thread) {
    const uint32_t element = thread * chunk_elements;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::
                 "r"(tile.address(element / columns, element % columns)), "l"(input + element) : "memory");
}

template <class T>
__device__ void begin(const T &a_tile, const T &b_tile, const half_t *a, const half_t *b) {
    const uint32_t problem = blockIdx.x * elements;
    copy_async(a_tile, a + problem, threadIdx.x);
    copy_async(b_tile, b + problem, threadIdx.x);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
}

template <class T>
__device__ FragmentA load_row(const T &tile, uint32_t row) {
    const uint32_t lane = lane_id();
    return ldmatrix_x4(tile.address(row, quad_row(lane) * side + quad_column(lane)));
}

template <class T>
__device__ Pair by_columns(const T &a, const T &b, uint32_t warp) {
    return multiply_transposed(load_a(a, 0, warp * side), load_a(b, 0, warp * side), {});
}

template <class T>
__device__ Pair by_rows(const T &a, const T &b, uint32_t warp) {
    return multiply_transposed(load_row(a, warp), load_row(b, warp), {});
}

__device__ void write_columns(float *c1, uint32_t warp, const Pair &c) {
    write_result(c1 + blockIdx.x * elements + warp * side, columns, c);
}

__device__ void write_row(float *c2, uint32_t warp, const Pair &c) {
    write_result(c2 + blockIdx.x * elements + warp * columns, side, c);
}

}  // namespace

#define MULTI(name, layout, parameters, body)                                         \
    extern "C" __global__ void __launch_bounds__(block_threads) name parameters {      \
        SHARED_TILE(a_tile, Tile256<layout>);                                          \
        SHARED_TILE(b_tile, Tile256<layout>);                                          \
        const uint32_t warp = threadIdx.x / warp_threads;                              \
        begin(a_tile, b_tile, a, b);                                                   \
        body;                                                                          \
    }
#define ONE(c) (const half_t *a, const half_t *b, float *c)
#define TWO (const half_t *a, const half_t *b, float *c1, float *c2)
#define COLUMNS_PRODUCT write_columns(c1, warp, by_columns(a_tile, b_tile, warp))
#define ROWS_PRODUCT write_row(c2, warp, by_rows(a_tile, b_tile, warp))

MULTI(multi_columns_plain, Plain, ONE(c1), COLUMNS_PRODUCT)
MULTI(multi_columns_swizzled, Both, ONE(c1), COLUMNS_PRODUCT)
MULTI(multi_rows_plain, Plain, ONE(c2), ROWS_PRODUCT)
MULTI(multi_rows_swizzled, Both, ONE(c2), ROWS_PRODUCT)
MULTI(multi_both_plain, Plain, TWO, COLUMNS_PRODUCT; ROWS_PRODUCT)
MULTI(multi_both_swizzled, Both, TWO, COLUMNS_PRODUCT; ROWS_PRODUCT)

namespace {

template <class T>
__device__ uint4 *chunk_of(const T &tile, uint32_t thread) {
    const uint32_t element = thread * chunk_elements;
    return reinterpret_cast<uint4 *>(tile.at(element / columns, element % columns));
}

template <class T>
__device__ void store_row(const T &tile, uint32_t row, uint32_t column, const FragmentCHalf &c) {
    const uint32_t lane = lane_id(), r = lane / 4, k = lane % 4 * 2;
    *reinterpret_cast<uint32_t *>(tile.at(row, r * side + column + k)) = c.r[0];
    *reinterpret_cast<uint32_t *>(tile.at(row, (r + 8) * side + column + k)) = c.r[1];
}

template <class First, class Second>
__device__ void interleaved(half_t *a_memory, half_t *b_memory, half_t *c_memory, const half_t *a,
                            const half_t *b, half_t *c1, half_t *c2) {
    const uint32_t thread = threadIdx.x, warp = thread / warp_threads, problem = blockIdx.x * elements;
    const Tile256<First> a_first{a_memory}, b_first{b_memory}, c_first{c_memory};
    begin(a_first, b_first, a, b);
    const Pair first = by_columns(a_first, b_first, warp);
    store_c(c_first, 0, warp * side, to_half(first.left));
    store_c(c_first, 0, warp * side + 8, to_half(first.right));

    __syncthreads();
    const uint4 held_a = *chunk_of(a_first, thread), held_b = *chunk_of(b_first, thread),
                held_c = *chunk_of(c_first, thread);
    __syncthreads();
    const Tile256<Second> a_second{a_memory}, b_second{b_memory}, c_second{c_memory};
    *chunk_of(a_second, thread) = held_a;
    *chunk_of(b_second, thread) = held_b;
    *chunk_of(c_second, thread) = held_c;
    __syncthreads();
    drain<block_threads>(c_second, c1 + problem, thread);

    const Pair second = by_rows(a_second, b_second, warp);
    __syncwarp();
    store_row(a_second, warp, 0, to_half(second.left));
    store_row(a_second, warp, 8, to_half(second.right));
    __syncthreads();
    drain<block_threads>(a_second, c2 + problem, thread);
}

}  // namespace

#define INTERLEAVED(name, first, second)                                               \
    extern "C" __global__ void __launch_bounds__(block_threads)                         \
    name(const half_t *a, const half_t *b, half_t *c1, half_t *c2) {                    \
        SHARED_TILE(a_tile, Tile256<first>);                                            \
        SHARED_TILE(b_tile, Tile256<first>);                                            \
        SHARED_TILE(c_tile, Tile256<first>);                                            \
        interleaved<first, second>(a_tile.base, b_tile.base, c_tile.base, a, b, c1, c2); \
    }

INTERLEAVED(interleaved_plain, Plain, Plain)
INTERLEAVED(interleaved_swizzled, ByColumns, ByRows)
