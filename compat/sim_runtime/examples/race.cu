// Adds up the values of each block. The barrier between the steps is missing.
#include <cstdio>

constexpr int kThreads = 256;
constexpr int kBlocks = 4;

__global__ void sum(const float* in, float* out) {
    __shared__ float partial[kThreads];
    int i = threadIdx.x;
    partial[i] = in[blockIdx.x * kThreads + i];
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (i < half) partial[i] += partial[i + half];
        // __syncthreads();
    }
    if (i == 0) out[blockIdx.x] = partial[0];
}

int main() {
    float values[kBlocks * kThreads], sums[kBlocks] = {};
    for (float& value : values) value = 1;
    float *in, *out;
    cudaMalloc(&in, sizeof values);
    cudaMalloc(&out, sizeof sums);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    sum<<<kBlocks, kThreads>>>(in, out);
    cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
    std::printf("%s: %g %g %g %g\n", cudaGetErrorString(cudaGetLastError()), sums[0], sums[1],
                sums[2], sums[3]);
    cudaFree(in);
    cudaFree(out);
}
