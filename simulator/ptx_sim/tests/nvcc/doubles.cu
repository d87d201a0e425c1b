// The double-precision library: division, roots, and the slow paths of sin and exp.
extern "C" __global__ void doubles(const double *x, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v = x[i];
    out[i] = 1.0 / v;
    out[n + i] = sqrt(fabs(v));
    out[2 * n + i] = sin(v);
    out[3 * n + i] = exp(-v * v);
    out[4 * n + i] = log(fabs(v) + 1.0);
    out[5 * n + i] = pow(fabs(v), 1.25);
    out[6 * n + i] = fmod(v, 0.7);
    out[7 * n + i] = rint(v) + floor(v) * 4.0 + ceil(v) * 16.0 + trunc(v) * 64.0;
    out[8 * n + i] = __dadd_rd(v, 1e-17) - __dmul_ru(v, 1.1);
    out[9 * n + i] = atan2(v, 1.5) + cbrt(v) + hypot(v, 2.0);
}

extern "C" __global__ void singles(const float *x, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    out[i] = 1.0f / v;
    out[n + i] = sqrtf(fabsf(v));
    out[2 * n + i] = sinf(v) + cosf(v);
    out[3 * n + i] = expf(-fabsf(v)) + tanhf(v);
    out[4 * n + i] = logf(fabsf(v) + 1.0f) + log2f(fabsf(v) + 0.5f);
    out[5 * n + i] = powf(fabsf(v), 1.25f);
    out[6 * n + i] = fmodf(v, 0.7f) + remainderf(v, 0.3f);
    out[7 * n + i] = (float)__float2int_rd(v) + (float)__float2int_ru(v) * 4.0f + nearbyintf(v);
    out[8 * n + i] = ldexpf(v, i % 7 - 3) + copysignf(2.0f, v) + fmaf(v, v, 1.0f);
    out[9 * n + i] = __fdividef(v, 3.0f) + __expf(v / 16.0f) + __sinf(v) + rsqrtf(fabsf(v) + 1.0f);
}
