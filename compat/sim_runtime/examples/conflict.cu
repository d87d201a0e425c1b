// Transposes a tile in shared memory. Its rows are 32 words long, so each column lies in a single
// bank.
#include <cstdio>

constexpr int kTile = 32;

__global__ void transpose(const float* in, float* out) {
    __shared__ float tile[kTile][kTile];  // kTile + 1 fixes it
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * kTile + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * kTile + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

int main() {
    static float values[kTile * kTile];
    for (int i = 0; i < kTile * kTile; i++) values[i] = i;
    float *in, *out;
    cudaMalloc(&in, sizeof values);
    cudaMalloc(&out, sizeof values);
    cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
    transpose<<<1, dim3(kTile, kTile)>>>(in, out);
    cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost);
    std::printf("%s: %g %g\n", cudaGetErrorString(cudaGetLastError()), values[1], values[kTile]);
    cudaFree(in);
    cudaFree(out);
}
