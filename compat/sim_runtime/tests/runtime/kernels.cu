// nvcc -fatbin -arch=compute_90 kernels.cu -o kernels.fatbin
__device__ int counter = 3;
__constant__ int table[4];

extern "C" __global__ void add(int* to, int value) { to[threadIdx.x] += value; }

extern "C" __global__ void read_variables(int* to) {
    to[threadIdx.x] = counter + table[threadIdx.x];
}
