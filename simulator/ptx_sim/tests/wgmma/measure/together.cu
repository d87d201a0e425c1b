// Whether the four warps of a warpgroup wait for each other at wgmma: one of them comes late, and the first one to be
// done overwrites B.
#include "common.h"
#include <cstdio>
#include <cstring>
#include <vector>
#define RT(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("FAILED %s: %s\n", #x, cudaGetErrorString(e_)); return 1; } } while (0)

__global__ void __launch_bounds__(128) together(int late, int overwrites, long long *times, float *sums) {
    __shared__ __align__(1024) uint16_t a[64 * 16], b[8 * 16];
    for (int i = threadIdx.x; i < 64 * 16; i += 128) a[i] = 0x3c00;
    if (threadIdx.x < 128) b[threadIdx.x] = 0x3c00;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    const int warp = threadIdx.x / 32;
    float c[4] = {0, 0, 0, 0};
    uint64_t da = (uint32_t)__cvta_generic_to_shared(a) >> 4 | 8ull << 16 | 16ull << 32, db = (uint32_t)__cvta_generic_to_shared(b) >> 4 | 8ull << 16 | 16ull << 32;
    long long start = clock64();
    if (warp == late) while (clock64() - start < 200000) {}
    long long before = clock64();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    long long fenced = clock64();
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;}" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "l"(da), "l"(db));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    long long issued = clock64();
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) :: "memory");
    long long done = clock64();
    if (overwrites && warp == (late + 1) % 4) {
        for (int i = threadIdx.x % 32; i < 128; i += 32) ((volatile uint16_t *)b)[i] = 0x4000;
        asm volatile("fence.proxy.async;" ::: "memory");
    }
    if (threadIdx.x % 32 == 0) {
        long long *t = times + warp * 4;
        t[0] = before - start; t[1] = fenced - start; t[2] = issued - start; t[3] = done - start;
        sums[warp] = c[0];
    }
}
int main() {
    long long *times, t[16];
    float *sums, s[4];
    RT(cudaMalloc(&times, sizeof t));
    RT(cudaMalloc(&sums, sizeof s));
    for (int i = 0; i < 16; i++) {
        int late = i / 2 % 5 - 1, overwrites = i % 2;
        together<<<1, 128>>>(late, overwrites, times, sums);
        RT(cudaDeviceSynchronize());
        RT(cudaMemcpy(t, times, sizeof t, cudaMemcpyDeviceToHost));
        RT(cudaMemcpy(s, sums, sizeof s, cudaMemcpyDeviceToHost));
        printf("late %d overwrites %d:", late, overwrites);
        for (int w = 0; w < 4; w++) printf("  warp %d: before %lld fenced %lld issued %lld done %lld sum %g", w, t[4 * w], t[4 * w + 1], t[4 * w + 2], t[4 * w + 3], s[w]);
        printf("\n");
    }
    return 0;
}
