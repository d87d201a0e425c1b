// Half precision, two at a time, and bfloat16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void halves(const half2 *x, const half2 *y, half2 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    half2 a = x[i], b = y[i];
    out[i] = __hfma2(a, b, __float2half2_rn(0.5f));
    out[n + i] = __hmul2(__hadd2(a, b), __hsub2(a, b));
    out[2 * n + i] = __hmax2(a, __hneg2(b));
    out[3 * n + i] = __lows2half2(__habs2(a), __hmin2(b, a));
    out[4 * n + i] = __hgt2(a, b);
    out[5 * n + i] = __halves2half2(__hdiv(__low2half(a), __high2half(b)), __float2half_rz(__half2float(__high2half(a)) * 1.001f));
}

extern "C" __global__ void brains(const __nv_bfloat16 *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    __nv_bfloat16 a = x[i];
    __nv_bfloat16 b = __hfma(a, a, __float2bfloat16(0.25f));
    out[i] = __bfloat162float(b) + __bfloat162float(__hmul(a, b));
}
