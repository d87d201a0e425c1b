// Adds one to 1000 numbers with 1024 threads, without checking which of them have a number.
#include <cstdio>

__global__ void add_one(int* numbers, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // if (i >= n) return;
    numbers[i] += 1;
}

int main() {
    constexpr int n = 1000;
    int* numbers;
    cudaMalloc(&numbers, n * sizeof(int));
    cudaMemset(numbers, 0, n * sizeof(int));
    add_one<<<4, 256>>>(numbers, n);
    cudaError_t launched = cudaGetLastError();
    cudaError_t ran = cudaDeviceSynchronize();
    std::printf("launched: %s; ran: %s\n", cudaGetErrorString(launched), cudaGetErrorString(ran));
    cudaFree(numbers);
    return ran == cudaSuccess ? 0 : 1;
}
