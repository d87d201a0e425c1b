// y = a*x + y with a grid-stride loop, in single and in double precision.
template <typename T>
__device__ void axpy(int n, T a, const T *__restrict__ x, T *y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i];
}

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) { axpy(n, a, x, y); }
extern "C" __global__ void daxpy(int n, double a, const double *x, double *y) { axpy(n, a, x, y); }

// Four at a time, the rest one by one.
extern "C" __global__ void saxpy_vec4(int n, float a, const float4 *x, float4 *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 3 < n) {
        float4 u = x[i], v = y[i];
        v.x += a * u.x;
        v.y += a * u.y;
        v.z += a * u.z;
        v.w += a * u.w;
        y[i] = v;
    } else {
        for (int j = 4 * i; j < n; ++j)
            ((float *)y)[j] += a * ((const float *)x)[j];
    }
}
