// CUB's algorithms as functions of a shared library, timed alongside our
// kernels: on their buffers, in their stream, in their (the primary) context.
//
//     nvcc -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC -o libcub.so cub.cu
#include <climits>

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>

// The sum of n values. Without temporary memory it only returns how much it needs.
// An int suits CUB best: with a 64-bit count it computes its indices in 64 bits.
extern "C" int lockstep_cub_sum_f32(void *temporary, size_t *temporary_bytes, const float *input,
                                    float *output, long long n, void *stream) {
    if (n > INT_MAX) return cudaErrorInvalidValue;
    return cub::DeviceReduce::Sum(temporary, *temporary_bytes, input, output, static_cast<int>(n),
                                  static_cast<cudaStream_t>(stream));
}

// The meaning of such a function's code.
extern "C" const char *lockstep_cub_words(int code) {
    return cudaGetErrorString(static_cast<cudaError_t>(code));
}

extern "C" int lockstep_cub_version() { return CUB_VERSION; }
