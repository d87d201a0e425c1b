// Loads and stores with a meaning: __ldg, volatile, streaming, and a sum whose
// last block, found by an atomic counter after a fence, adds up the others.
extern "C" __global__ void last_block(const float *in, int n, volatile float *partial, unsigned *done, float *out) {
    __shared__ volatile float of_thread[128];
    __shared__ bool is_last;
    float sum = 0;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128)
        sum += __ldg(&in[i]);
    of_thread[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (threadIdx.x < step) of_thread[threadIdx.x] += of_thread[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = of_thread[0];
        __threadfence();
        is_last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        float total = 0;
        for (int b = 0; b < gridDim.x; ++b) total += partial[b];
        __stcs(out, total);
    }
}

extern "C" __global__ void hints(const int4 *in, int4 *out) {
    int i = threadIdx.x;
    int4 a = __ldcs(&in[i]), b = __ldcg(&in[i + 32]), c = __ldlu(&in[i + 64]), d = __ldcv(&in[i + 96]);
    __stwt(&out[i], make_int4(a.x + b.y, b.x - c.y, c.x * d.y, d.x ^ a.y));
}
