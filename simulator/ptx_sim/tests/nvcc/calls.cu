// Calls that stay calls: recursion, pointers to functions, virtual functions,
// a structure by value.
__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(unsigned *out) {
    unsigned i = threadIdx.x;
    out[i] = ackermann(i % 3, i / 3);
}

typedef float (*Function)(float);
__device__ __noinline__ float twice(float x) { return 2 * x; }
__device__ __noinline__ float square(float x) { return x * x; }
__device__ __noinline__ float negate(float x) { return -x; }
__device__ Function table[3] = {twice, square, negate};

extern "C" __global__ void pointers(const int *which, float *data) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = table[which[i]](data[i]);
}

struct Triple { int a; double b; short c[3]; };
__device__ __noinline__ Triple turn(Triple t) {
    Triple r = {t.c[0], t.b * 2, {t.c[1], t.c[2], (short)t.a}};
    return r;
}

extern "C" __global__ void structures(const Triple *in, Triple *out, Triple extra) {
    int i = threadIdx.x;
    Triple t = turn(turn(in[i]));
    t.b += extra.b;
    t.c[1] += extra.c[2];
    out[i] = t;
}

struct Shape { __device__ virtual float area() const = 0; };
struct Square : Shape { float s; __device__ Square(float s) : s(s) {} __device__ float area() const override { return s * s; } };
struct Circle : Shape { float r; __device__ Circle(float r) : r(r) {} __device__ float area() const override { return 3.0f * r * r; } };

__device__ __noinline__ float area_of(const Shape *shape) { return shape->area(); }

extern "C" __global__ void virtuals(float *out) {
    int i = threadIdx.x;
    Square square(i);
    Circle circle(i);
    out[i] = area_of(i % 2 ? (const Shape *)&square : (const Shape *)&circle);
}
