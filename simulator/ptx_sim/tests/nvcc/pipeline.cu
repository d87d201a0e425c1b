// Asynchronous copies, two stages: one is computed while the next arrives.
#include <cuda_pipeline.h>
constexpr int STAGE = 128;
extern "C" __global__ void pipeline(const float4 *in, float4 *out, int n_stages) {
    __shared__ float4 stages[2][STAGE];
    const float4 *from = in + (size_t)blockIdx.x * n_stages * STAGE;
    int t = threadIdx.x;
    float4 sum = make_float4(0, 0, 0, 0);
    __pipeline_memcpy_async(&stages[0][t], &from[t], sizeof(float4));
    __pipeline_commit();
    for (int s = 0; s < n_stages; ++s) {
        if (s + 1 < n_stages)
            __pipeline_memcpy_async(&stages[(s + 1) % 2][t], &from[(s + 1) * STAGE + t], sizeof(float4));
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 other = stages[s % 2][STAGE - 1 - t];
        sum.x += other.x;
        sum.y += other.y;
        sum.z += other.z;
        sum.w += other.w;
        __syncthreads();
    }
    out[blockIdx.x * STAGE + t] = sum;
}
