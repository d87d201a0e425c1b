// Scales values; one of its two allocations is never freed.
#include <cstdio>

__global__ void scale(const float* in, float* out, float factor) {
    out[threadIdx.x] = factor * in[threadIdx.x];
}

float* copied(const float* values, size_t n_bytes) {
    float* device;
    cudaMalloc(&device, n_bytes);
    cudaMemcpy(device, values, n_bytes, cudaMemcpyHostToDevice);
    return device;
}

int main() {
    float values[64];
    for (int i = 0; i < 64; i++) values[i] = i;
    float* in = copied(values, sizeof values);
    float* out;
    cudaMalloc(&out, sizeof values);
    scale<<<1, 64>>>(in, out, 2);
    cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost);
    std::printf("%s: %g %g\n", cudaGetErrorString(cudaGetLastError()), values[1], values[63]);
    cudaFree(out);
    // cudaFree(in);
}
