// Warp-wide: votes, matches, reductions, shuffles of every kind.
extern "C" __global__ void votes(const unsigned *in, unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], n = gridDim.x * blockDim.x;
    const unsigned all = 0xffffffff;
    out[i] = __ballot_sync(all, v & 1) ^ (__any_sync(all, v == 0) << 3) ^ __all_sync(all, v < 100);
    out[n + i] = __match_any_sync(all, v % 5);
    int same;
    out[2 * n + i] = __match_all_sync(all, v / 1000, &same) + same;
    out[3 * n + i] = __reduce_add_sync(all, v) ^ __reduce_xor_sync(all, v) ^ __reduce_max_sync(all, v);
    out[4 * n + i] = __shfl_sync(all, v, v % 32) + __shfl_xor_sync(all, v, 5, 8) + __shfl_down_sync(all, v, 3);
    unsigned odd = __ballot_sync(all, i & 1);
    if (i & 1)
        v += __shfl_sync(odd, v, (threadIdx.x + 2) % 32) + __activemask();
    out[5 * n + i] = v;
    unsigned long long wide = __shfl_sync(all, (unsigned long long)v << 20 | i, 31 - threadIdx.x % 32);
    out[6 * n + i] = (unsigned)(wide >> 17);
}
