// Atomics of every kind: by compare-and-swap, on floats, as a lock, scoped.
#include <cuda/atomic>
extern "C" __global__ void atomics(const int *in, int n, int *ints, float *floats, double *doubles, unsigned long long *longs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = in[i];
    atomicAdd(&ints[0], v);
    atomicMin(&ints[1], v);
    atomicMax(&ints[2], v);
    atomicXor(&ints[3], v);
    atomicAnd(&ints[4], v | 0xff00);
    atomicOr(&ints[5], v);
    atomicSub(&ints[6], v);
    atomicAdd(&floats[0], (float)v);
    atomicAdd(&doubles[0], (double)v * 0.5);
    atomicMax(&longs[0], (unsigned long long)v * v);
    // A product modulo a prime, by compare-and-swap.
    unsigned long long seen = longs[1], assumed;
    do {
        assumed = seen;
        seen = atomicCAS(&longs[1], assumed, assumed * ((unsigned)v % 1000 + 1) % 1000003);
    } while (seen != assumed);
    cuda::atomic_ref<unsigned long long, cuda::thread_scope_device> counter(longs[2]);
    counter.fetch_add(1, cuda::std::memory_order_acq_rel);
}

__device__ int lock = 0;
extern "C" __global__ void locked(int *count) {
    // One thread per block: all lanes of a warp would wait for each other.
    if (threadIdx.x == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {}
        __threadfence();
        *(volatile int *)count = *(volatile int *)count + 1;
        __threadfence();
        atomicExch(&lock, 0);
    }
}
