// Shared by the baselines of Hopper's kernels: wgmma, TMA, barriers in memory, clusters.
// All of it needs sm_90a; compiled for another architecture, this file is empty.
#pragma once

#include <cstdint>
#include <cuda.h>
#include <cuda_fp16.h>

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

namespace {

typedef unsigned u32;
typedef unsigned long long u64;

constexpr u32 WARPGROUP = 128, ROW_BYTES = 128, TILE_ALIGN = 1024;
// Rows of a wgmma, and depth of a step: a row of 128 bytes.
constexpr u32 M = 64, TILE_K = 64;

struct Extents {
    u32 m, n, k;
};

__device__ __forceinline__ u32 ceil_div(u32 x, u32 y) { return x / y + (x % y != 0); }

// ---- warps, warpgroups, clusters ------------------------------------------------------

__device__ __forceinline__ u32 broadcast(u32 value) { return __shfl_sync(0xffffffff, value, 0); }

__device__ __forceinline__ bool is_elected() {
    u32 elected;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
    return elected != 0;
}

// The same for all lanes, and ptxas can see that.
__device__ __forceinline__ u32 warpgroup_index() { return broadcast(threadIdx.x / WARPGROUP); }

// One thread of each warpgroup, always the same.
__device__ __forceinline__ bool is_first_of_group() {
    return broadcast(threadIdx.x % WARPGROUP / 32) == 0 && is_elected();
}

__device__ __forceinline__ void sync_warpgroup(u32 barrier) {
    asm volatile("barrier.cta.sync.aligned %0, 128;" ::"r"(barrier) : "memory");
}

template <u32 N> __device__ __forceinline__ void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}
template <u32 N> __device__ __forceinline__ void give_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}

__device__ __forceinline__ u32 cluster_rank() {
    u32 rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ __forceinline__ u32 cluster_size() {
    u32 size;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    return size;
}

__device__ __forceinline__ void arrive_at_cluster() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
__device__ __forceinline__ void wait_for_cluster() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
__device__ __forceinline__ void sync_cluster() {
    arrive_at_cluster();
    wait_for_cluster();
}

template <u32 BLOCKS> __device__ __forceinline__ void sync_blocks() {
    if (BLOCKS > 1) {
        sync_cluster();
    } else {
        __syncthreads();
    }
}

// ---- barriers in memory ---------------------------------------------------------------

__device__ __forceinline__ void init_barrier(u32 barrier, u32 n_arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(n_arrivals) : "memory");
}

// Copies and other blocks may use them as well, after a barrier.
__device__ __forceinline__ void publish_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster; fence.proxy.async;" ::: "memory");
}

__device__ __forceinline__ void wait_for_phase(u32 barrier, u32 parity) {
    u32 ended;
    do {
        asm volatile("{ .reg .pred ended; mbarrier.try_wait.parity.shared.b64 ended, [%1], %2; "
                     "selp.u32 %0, 1, 0, ended; }"
                     : "=r"(ended)
                     : "r"(barrier), "r"(parity)
                     : "memory");
    } while (ended == 0);
}

__device__ __forceinline__ void arrive_expecting(u32 barrier, u32 n_bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(n_bytes) : "memory");
}

// Without a branch, which would make the multiplying warps diverge.
__device__ __forceinline__ void arrive_if(bool condition, u32 barrier) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; @p mbarrier.arrive.shared::cta.b64 _, [%1]; }"
                 :
                 : "r"(static_cast<u32>(condition)), "r"(barrier)
                 : "memory");
}

// At the barrier that another block of the cluster has at this address.
__device__ __forceinline__ void arrive_at_if(bool condition, u32 barrier, u32 rank) {
    asm volatile("{ .reg .pred p; .reg .b32 theirs; setp.ne.u32 p, %0, 0; "
                 "@p mapa.shared::cluster.u32 theirs, %1, %2; "
                 "@p mbarrier.arrive.shared::cluster.b64 _, [theirs]; }"
                 :
                 : "r"(static_cast<u32>(condition)), "r"(barrier), "r"(rank)
                 : "memory");
}

// ---- TMA ------------------------------------------------------------------

// Address of a map in the parameters: the engine reads it there.
__device__ __forceinline__ u64 address_of(const CUtensorMap& map) { return reinterpret_cast<u64>(&map); }

__device__ __forceinline__ void prefetch_map(const CUtensorMap& map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(address_of(map)) : "memory");
}

__device__ __forceinline__ void load_box(u32 to, const CUtensorMap& map, u32 x, u32 y, u32 barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 :
                 : "r"(to), "l"(address_of(map)), "r"(x), "r"(y), "r"(barrier)
                 : "memory");
}

// Into each block of the cluster whose bit is set.
__device__ __forceinline__ void load_box_to_all(u32 to, const CUtensorMap& map, u32 x, u32 y, u32 barrier,
                                                uint16_t blocks) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                 :
                 : "r"(to), "l"(address_of(map)), "r"(x), "r"(y), "r"(barrier), "h"(blocks)
                 : "memory");
}

__device__ __forceinline__ void store_box(const CUtensorMap& map, u32 x, u32 y, u32 from) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];"
                 :
                 : "l"(address_of(map)), "r"(x), "r"(y), "r"(from)
                 : "memory");
}

__device__ __forceinline__ void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <u32 N> __device__ __forceinline__ void wait_stores_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

// After the next barrier, copies and wgmma see what this thread has written.
__device__ __forceinline__ void fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// ---- wgmma ----------------------------------------------------------------------------

// For a tile with rows along k and a swizzle of 128 bytes. The assembly without an instruction keeps nvcc from
// recomputing it in every step.
__device__ __forceinline__ u64 descriptor(u32 address) {
    u64 made = 1ull << 62 | static_cast<u64>(TILE_ALIGN >> 4) << 32 | 1ull << 16 | (address & 0x3ffff) >> 4;
    asm volatile("" : "+l"(made));
    return made;
}
__device__ __forceinline__ u64 further(u64 descriptor, u32 n_bytes) { return descriptor + (n_bytes >> 4); }

#define R0_31 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, " \
    "%23, %24, %25, %26, %27, %28, %29, %30, %31"
#define R32_63 \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, " \
    "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define R64_95 \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, " \
    "%85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define R96_127 \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, " \
    "%114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define FIRST_64 R0_31 ", " R32_63
#define SECOND_64 R64_95 ", " R96_127
#define IN_4(x, i) "+f"(x[i]), "+f"(x[i + 1]), "+f"(x[i + 2]), "+f"(x[i + 3])
#define IN_16(x, i) IN_4(x, i), IN_4(x, i + 4), IN_4(x, i + 8), IN_4(x, i + 12)
#define IN_32(x, i) IN_16(x, i), IN_16(x, i + 16)
#define IN_64(x, i) IN_32(x, i), IN_32(x, i + 32)
#define IN_128(x) IN_64(x, 0), IN_64(x, 64)

#define WGMMA(n, sums, a, b) \
    "wgmma.mma_async.sync.aligned.m64n" n "k16.f32.f16.f16 {" sums "}, " a ", " b ", keep, 1, 1, 0, 0; "

// All 128 bytes of k in one asm statement, so that no register is moved between the instructions.
#define ALONG_K(n, sums, a, b, keep) \
    "{ .reg .pred keep; .reg .b64 a, b; setp.ne.u32 keep, " keep ", 0; wgmma.fence.sync.aligned; " \
    WGMMA(n, sums, a, b) "setp.eq.u32 keep, 0, 0; " \
    "add.s64 a, " a ", 2; add.s64 b, " b ", 2; " WGMMA(n, sums, "a", "b") \
    "add.s64 a, " a ", 4; add.s64 b, " b ", 4; " WGMMA(n, sums, "a", "b") \
    "add.s64 a, " a ", 6; add.s64 b, " b ", 6; " WGMMA(n, sums, "a", "b") \
    "wgmma.commit_group.sync.aligned; }"

// Adds a step's product to 64 rows of sums, twice as many columns as registers; if `keep` is false, the old sums
// are ignored.
#define ADD_PRODUCT(registers, n, sums, inputs, a_at, b_at, keep_at) \
    __device__ __forceinline__ void add_product(float (&x)[registers], u64 a, u64 b, bool keep) { \
        asm volatile(ALONG_K(n, sums, a_at, b_at, keep_at) \
                     : inputs \
                     : "l"(a), "l"(b), "r"(static_cast<u32>(keep)) \
                     : "memory"); \
    } \
    /* The wait names every register, so that nothing reads one before it. */ \
    __device__ __forceinline__ void finish(float (&x)[registers]) { \
        asm volatile("wgmma.wait_group.sync.aligned 0;" : inputs::"memory"); \
    }
#define IN_96(x) IN_64(x, 0), IN_32(x, 64)
ADD_PRODUCT(32, "64", R0_31, IN_32(x, 0), "%32", "%33", "%34")
ADD_PRODUCT(64, "128", FIRST_64, IN_64(x, 0), "%64", "%65", "%66")
ADD_PRODUCT(96, "192", FIRST_64 ", " R64_95, IN_96(x), "%96", "%97", "%98")
ADD_PRODUCT(128, "256", FIRST_64 ", " SECOND_64, IN_128(x), "%128", "%129", "%130")

#define BOTH(u, l, b) WGMMA("128", FIRST_64, u, b) WGMMA("128", SECOND_64, l, b)
#define NEXT_OF_BOTH(distance) \
    "add.s64 u, %128, " distance "; add.s64 l, %129, " distance "; add.s64 b, %130, " distance "; " \
    BOTH("u", "l", "b")

// For 128x128 sums, the upper 64 rows in the first half of the registers.
__device__ __forceinline__ void add_tall_product(float (&sums)[128], u64 upper, u64 lower, u64 b, bool keep) {
    asm volatile("{ .reg .pred keep; .reg .b64 u, l, b; setp.ne.u32 keep, %131, 0; wgmma.fence.sync.aligned; "
                 BOTH("%128", "%129", "%130") "setp.eq.u32 keep, 0, 0; "
                 NEXT_OF_BOTH("2") NEXT_OF_BOTH("4") NEXT_OF_BOTH("6")
                 "wgmma.commit_group.sync.aligned; }"
                 : IN_128(sums)
                 : "l"(upper), "l"(lower), "l"(b), "r"(static_cast<u32>(keep))
                 : "memory");
}

template <u32 N> __device__ __forceinline__ void wait_for_all_but() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

}  // namespace

#endif
