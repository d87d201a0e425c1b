// 64-bit and 128-bit integers: division, remainder, high products.
extern "C" __global__ void divide(const long long *a, const long long *b, long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = a[i] / b[i];
    out[n + i] = a[i] % b[i];
    out[2 * n + i] = (unsigned long long)a[i] / (unsigned long long)b[i];
    out[3 * n + i] = (unsigned long long)a[i] % (unsigned long long)b[i];
    out[4 * n + i] = __mul64hi(a[i], b[i]);
    unsigned long long x = a[i], y = b[i];
    while (y) { unsigned long long r = x % y; x = y; y = r; }
    out[5 * n + i] = x;
    __int128 wide = (__int128)a[i] * b[i] + a[i];
    out[6 * n + i] = (long long)(wide >> 37);
    out[7 * n + i] = a[i] / 10 + a[i] % 1000;
}

extern "C" __global__ void bits(const unsigned *a, const unsigned *b, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    out[i] = __popc(x) + 100 * __clz(x) + 10000 * __ffs(y);
    out[n + i] = __brev(x) ^ __byte_perm(x, y, 0x5146);
    out[2 * n + i] = __funnelshift_l(x, y, y) + __funnelshift_rc(x, y, 17);
    out[3 * n + i] = __dp4a((int)x, (int)y, 5) + __sad((int)x, (int)y, 7u);
    out[4 * n + i] = __vadd4(x, y) ^ __vabsdiffu4(x, y) ^ __vcmpgtu4(x, y);
    out[5 * n + i] = __uhadd(x, y) + __umulhi(x, y) + (unsigned)__mul24((int)x, (int)y);
    out[6 * n + i] = (x & y) | (~x & b[(i + 1) % n]);
}
