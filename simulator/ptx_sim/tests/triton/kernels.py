# The kernels of this folder, and how their PTX was made: `python3 kernels.py`
# with Triton installed writes it. No GPU is needed.
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def softmax(out, rows, stride, n_columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    values = tl.load(rows + row * stride + column, mask=column < n_columns, other=-float("inf"))
    shifted = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * stride + column, shifted / tl.sum(shifted, axis=0), mask=column < n_columns)


@triton.jit
def matmul(a, b, c, n, BLOCK: tl.constexpr):
    # n is a multiple of BLOCK; half in, float out.
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, n, BLOCK):
        tile_a = tl.load(a + rows[:, None] * n + (k + inner)[None, :])
        tile_b = tl.load(b + (k + inner)[:, None] * n + columns[None, :])
        total = tl.dot(tile_a, tile_b, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def histogram(x, out, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=BINS - 1)
    counts = tl.histogram(values, BINS)
    tl.atomic_add(out + tl.arange(0, BINS), counts)


@triton.jit
def scan(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(out + at, tl.cumsum(values, axis=0), mask=at < n)


MULTIPLE_OF_16 = [["tt.divisibility", 16]]


def make(kernel, types, constants, sm, name=None, aligned=(), options=None):
    source = ASTSource(
        fn=kernel,
        signature={**types, **{k: "constexpr" for k in constants}},
        constexprs=constants,
        attrs={(i,): MULTIPLE_OF_16 for i in aligned},
    )
    compiled = triton.compile(source, target=GPUTarget("cuda", sm, 32), options=options or {})
    text = compiled.asm["ptx"]
    name = f"{name or kernel.__name__}.sm_{sm}.ptx"
    with open(name, "w") as file:
        file.write(text)
    meta = compiled.metadata
    print(name, "threads", 32 * meta.num_warps, "shared", meta.shared)


if __name__ == "__main__":
    floats = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}
    # Multiples of 16: pointers, and the length too, or masks would keep loads narrow.
    make(add, floats, {"BLOCK": 1024}, 90, aligned=(0, 1, 2, 3))
    make(softmax, {"out": "*fp32", "rows": "*fp32", "stride": "i32", "n_columns": "i32"}, {"BLOCK": 1024}, 90)
    halves = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "n": "i32"}
    make(matmul, halves, {"BLOCK": 64}, 80, aligned=(0, 1, 2, 3), options={"num_stages": 3})
    make(matmul, halves, {"BLOCK": 64}, 90, aligned=(0, 1, 2, 3), options={"num_stages": 3})
    make(histogram, {"x": "*i32", "out": "*i32", "n": "i32"}, {"BLOCK": 512, "BINS": 64}, 80)
    make(scan, {"x": "*fp32", "out": "*fp32", "n": "i32"}, {"BLOCK": 512}, 80)
