// Two kernels for the samples in this folder: see make.sh.

extern "C" __global__ void scale(float *data, float factor, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i] *= factor;
}

extern "C" __global__ void reverse(float *data)
{
    __shared__ float line[64];
    line[threadIdx.x] = data[threadIdx.x];
    __syncthreads();
    data[threadIdx.x] = line[63 - threadIdx.x];
}
