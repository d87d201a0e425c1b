// An array indexed at run time lives in local memory: insertion sort per thread.
extern "C" __global__ void sort(float *data) {
    float mine[20];
    float *at = data + 20 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = 0; i < 20; ++i) {
        float x = at[i];
        int j = i;
        for (; j > 0 && mine[j - 1] > x; --j)
            mine[j] = mine[j - 1];
        mine[j] = x;
    }
    for (int i = 0; i < 20; ++i)
        at[i] = mine[i];
}
