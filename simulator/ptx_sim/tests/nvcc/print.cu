#include <cassert>
#include <cstdio>
extern "C" __global__ void print(int n, double x) {
    int i = threadIdx.x;
    if (i < n)
        printf("thread %d of %u: %5.2f %s %c %llx %%\n", i, blockDim.x, x * i, i % 2 ? "odd" : "even", 'a' + i, 1ULL << (8 * i));
}
extern "C" __global__ void check(const int *data) {
    assert(data[threadIdx.x] > 0);
}
