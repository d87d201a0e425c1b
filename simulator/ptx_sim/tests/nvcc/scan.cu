// Inclusive prefix sum of each block: shuffles in a warp, then over the warps.
__device__ __forceinline__ int warp_scan(int value) {
    int lane = threadIdx.x % 32;
    for (int step = 1; step < 32; step *= 2) {
        int other = __shfl_up_sync(0xffffffff, value, step);
        if (lane >= step)
            value += other;
    }
    return value;
}

extern "C" __global__ void scan(const int *in, int *out, int n) {
    __shared__ int of_warp[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = warp_scan(i < n ? in[i] : 0);
    int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 31)
        of_warp[warp] = value;
    __syncthreads();
    if (warp == 0) {
        int total = threadIdx.x < blockDim.x / 32 ? of_warp[threadIdx.x] : 0;
        of_warp[threadIdx.x] = warp_scan(total);
    }
    __syncthreads();
    if (warp > 0)
        value += of_warp[warp - 1];
    if (i < n)
        out[i] = value;
}
