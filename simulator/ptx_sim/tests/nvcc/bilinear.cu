// An image scaled without the texture unit: bytes in, floats between, bytes out.
extern "C" __global__ void bilinear(const uchar4 *in, int width, int height, uchar4 *out, int out_width, int out_height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= out_width || y >= out_height) return;
    float u = (x + 0.5f) * width / out_width - 0.5f, v = (y + 0.5f) * height / out_height - 0.5f;
    int left = (int)floorf(u), top = (int)floorf(v);
    float fu = u - left, fv = v - top;
    auto at = [&](int i, int j) {
        i = min(max(i, 0), width - 1);
        j = min(max(j, 0), height - 1);
        return in[j * width + i];
    };
    uchar4 a = at(left, top), b = at(left + 1, top), c = at(left, top + 1), d = at(left + 1, top + 1);
    auto mix = [&](unsigned char a, unsigned char b, unsigned char c, unsigned char d) {
        float up = a + fu * (b - a), down = c + fu * (d - c);
        return (unsigned char)__float2uint_rn(up + fv * (down - up));
    };
    out[y * out_width + x] = make_uchar4(mix(a.x, b.x, c.x, d.x), mix(a.y, b.y, c.y, d.y), mix(a.z, b.z, c.z, d.z), 255);
}
