// Declarations shared by the kernels and the host.
#pragma once
#include <cstdint>
#include <cuda_runtime.h>

struct Params {
    const uint4 *image;    // of each block, in a row
    uint32_t image_bytes;  // of one
    const uint32_t *a, *c; // registers: by thread, then by number
    uint32_t *d;
    long long *clocks;
    uint64_t da, db;       // for an image at address 0
    uint32_t a_step, b_step, chain, keep;
    uint32_t shared_bytes; // of the block: zeros behind the image
};
struct Kernel {
    const char *name;
    void *function;
    const char *d, *a, *b;
    int n, registers, a_in_registers;
};

// The block's image into shared memory; what that adds to a descriptor.
__device__ __forceinline__ uint32_t copy_image(const Params &p) {
    extern __shared__ __align__(1024) uint4 shared[];
    uint32_t base = (uint32_t)__cvta_generic_to_shared(shared);
    const uint32_t n = p.image_bytes / 16;
    for (uint32_t i = threadIdx.x; i < n; i += 128) shared[i] = p.image[blockIdx.x * (uint64_t)n + i];
    for (uint32_t i = n + threadIdx.x; i < p.shared_bytes / 16; i += 128) shared[i] = make_uint4(0, 0, 0, 0);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (base % 1024 != 0) __trap();
    return base >> 4;
}
