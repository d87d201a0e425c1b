// The same through libcu++: cuda::pipeline and cuda::memcpy_async of one thread,
// and cuda::barrier, which is an mbarrier in shared memory.
#include <cuda/barrier>
#include <cuda/pipeline>
extern "C" __global__ void by_pipeline(const int *in, int *out, int n_stages) {
    __shared__ int stages[2][64];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x, sum = 0;
    auto fetch = [&](int s) {
        pipe.producer_acquire();
        if (s < n_stages)
            cuda::memcpy_async(&stages[s % 2][t], &in[s * 64 + t], sizeof(int), pipe);
        pipe.producer_commit();
    };
    fetch(0);
    for (int s = 0; s < n_stages; ++s) {
        fetch(s + 1);
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        __syncthreads();
        sum += stages[s % 2][63 - t];
        __syncthreads();
        pipe.consumer_release();
    }
    out[t] = sum;
}

extern "C" __global__ void by_barrier(const int *in, int *out) {
    __shared__ int data[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    int t = threadIdx.x;
    if (t == 0) init(&barrier, blockDim.x);
    __syncthreads();
    int sum = 0;
    for (int round = 0; round < 3; ++round) {
        data[t] = in[round * 64 + t];
        barrier.arrive_and_wait();
        sum += data[63 - t];
        auto token = barrier.arrive();
        barrier.wait(std::move(token));
    }
    out[t] = sum;
}
