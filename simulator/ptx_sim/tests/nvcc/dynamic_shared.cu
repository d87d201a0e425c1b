// Two arrays of different types in one dynamic allocation, next to a static one.
extern __shared__ double pool[];

extern "C" __global__ void reverse(const double *x, const short *y, double *out_x, short *out_y, int n) {
    __shared__ int total;
    double *xs = pool;
    short *ys = (short *)&pool[n];
    if (threadIdx.x == 0) total = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        xs[i] = x[i];
        ys[i] = y[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        out_x[i] = xs[n - 1 - i];
        out_y[i] = ys[n - 1 - i];
        atomicAdd(&total, ys[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) out_y[n] = (short)total;
}
