#!/usr/bin/env python3
# Writes kernels_*.cu (one kernel per form of wgmma) and cases.txt (what is measured), which is
# the list that the test reads, except for two columns: how many tiles' words are kept, and how.
#
#     python3 generate.py
#     for f in main kernels_0 kernels_1 kernels_2 kernels_3; do
#         nvcc -std=c++17 -O2 -gencode=arch=compute_90a,code=sm_90a -c $f.cu
#     done
#     nvcc -o measure *.o && mkdir out && ./measure all cases.txt out
#
# out/index.txt has the hashes of h200.txt, tile by tile; together.cu is a program of its own.
K_BYTES = 32
FLOATS = [("f32", "f16", "f16"), ("f16", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "tf32", "tf32")]
for d in ("f32", "f16"):
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            FLOATS.append((d, a, b))
INTS = [("s32", a, b) for a in ("s8", "u8") for b in ("s8", "u8")]
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "b1": 1}
kernels = {}
cases = []


def kernel(d, a, b, n, form="ss", ta=0, tb=0, sa=1, sb=1, sat=0, undo=0):
    name = f"{d}.{a}.{b}.n{n}.{form}.t{ta}{tb}.s{'+' if sa > 0 else '-'}{'+' if sb > 0 else '-'}" + (".sat" if sat else "") + (".undo" if undo else "")
    kernels[name] = (d, a, b, n, form, ta, tb, sa, sb, sat, undo)
    return name


def desc(start, lbo, sbo, swizzle=0, base=0, extra=0):
    assert start % 16 == 0 and lbo % 16 == 0 and sbo % 16 == 0
    return start >> 4 | (lbo >> 4) << 16 | (sbo >> 4) << 32 | base << 49 | swizzle << 62 | extra


def case(kernel, image, split, a, b, steps=(0, 0), chain=1, keep=1, classes=("near", "near", "near"), tiles=1, raw=0, kind="w"):
    cases.append((kernel, image, split, a, b, steps[0], steps[1], chain, keep, *classes, tiles, raw, kind))


def plain(k, classes, n=32, chain=1, keep=1, tiles=24, raw=4, trans=(0, 0)):
    """Tiles without swizzle, one after the other: A's, then B's."""
    a_bytes, b_bytes = 64 * K_BYTES, n * K_BYTES
    split = a_bytes * chain
    # K-major: LBO to the next 16 bytes of k, SBO to the next 8 rows. MN-major: LBO to the next 8 of k, SBO to the next 8 of mn.
    da = desc(0, 128, 256) if not trans[0] else desc(0, 1024, 128)
    db = desc(split, 128, 256) if not trans[1] else desc(split, 128 * (n // 8), 128)
    case(k, split + b_bytes * chain, split, da, db, (a_bytes, b_bytes), chain, keep, classes, tiles, raw)


for i, (d, a, b) in enumerate(FLOATS):
    mixes = [
        (("near", "near", "zero"), 1, 0), (("near", "near", "near"), 1, 1), (("near", "near", "mid"), 1, 1),
        (("mid", "mid", "zero"), 1, 0), (("mid", "mid", "mid"), 1, 1), (("wide", "wide", "wide"), 1, 1),
        (("wide", "near", "wide"), 1, 1), (("low", "wide", "low"), 1, 1), (("lowproduct", "lowproduct", "low"), 1, 1),
        (("paira", "pairb", "near"), 1, 1), (("paira", "pairb", "zero"), 1, 0), (("sparse", "sparse", "mid"), 1, 1),
        (("gap", "near", "near"), 1, 1), (("gap", "gap", "wide"), 1, 1), (("special", "special", "special"), 1, 1),
        (("any", "any", "any"), 1, 1), (("near", "near", "near"), 4, 1), (("mid", "mid", "mid"), 8, 1),
        (("sparse", "sparse", "zero"), 1, 0), (("sparse", "sparse", "low"), 1, 1),
    ]
    for j, (classes, chain, keep) in enumerate(mixes):
        plain(kernel(d, a, b, 32, "rs" if (i + j) % 2 else "ss"), classes, chain=chain, keep=keep)
    plain(kernel(d, a, b, 32, undo=1), ("mid", "near", "zero"), keep=0)
    plain(kernel(d, a, b, 32, undo=1), ("near", "near", "near"), chain=4)
    for form, sa, sb in (("ss", -1, 1), ("rs", -1, 1), ("ss", 1, -1), ("rs", 1, -1), ("ss", -1, -1)):
        plain(kernel(d, a, b, 32, form, sa=sa, sb=sb), ("mid", "mid", "mid"), tiles=32, raw=1)
    plain(kernel(d, a, b, 32, "rs", sa=-1), ("special", "special", "special"), tiles=32, raw=1)

for d, a, b in INTS:
    for form in ("ss", "rs"):
        for sat in (0, 1):
            k = kernel(d, a, b, 32, form, sat=sat)
            plain(k, ("any", "any", "any"), tiles=32, raw=1)
            plain(k, ("any", "any", "limit"), tiles=32, raw=1)
            plain(k, ("any", "any", "limit"), chain=4, tiles=32, raw=1)
for form in ("ss", "rs"):
    k = kernel("s32", "b1", "b1", 32, form)
    plain(k, ("any", "any", "any"), tiles=32, raw=1)
    plain(k, ("any", "any", "limit"), chain=4, tiles=32, raw=1)
    plain(k, ("any", "any", "zero"), keep=0, tiles=32, raw=1)

# Shapes.
for n in range(8, 257, 8):
    plain(kernel("f32", "f16", "f16", n), ("mid", "mid", "mid"), n=n, tiles=2, raw=0)
for d, a, b in FLOATS[1:] + INTS[:1] + [("s32", "b1", "b1")]:
    for n in (8, 24, 80, 144, 256):
        form = "rs" if n in (24, 256) else "ss"
        plain(kernel(d, a, b, n, form), ("mid", "mid", "mid") if d != "s32" else ("any", "any", "any"), n=n, tiles=2, raw=0)

# Transposed, on numbers.
for d, a, b in FLOATS[:3]:
    for ta, tb in ((0, 1), (1, 0), (1, 1)):
        plain(kernel(d, a, b, 64, "ss", ta, tb), ("mid", "mid", "mid"), n=64, tiles=8, raw=1, trans=(ta, tb))
    plain(kernel(d, a, b, 64, "rs", 0, 1), ("mid", "mid", "mid"), n=64, tiles=8, raw=1, trans=(0, 1))

# Where elements are read: every element of memory is another number, the other operand the identity.
IMAGE = 65536
strides = [(128, 256), (256, 128), (1024, 512), (512, 1024), (2048, 1024), (1024, 2048), (144, 272), (16, 1040)]
starts = [0, 32, 96, 128, 1024 + 640, 2048 + 16]
for tb in (0, 1):
    k = kernel("f32", "f16", "f16", 64, "rs", 0, tb)
    for swizzle in range(4):
        for lbo, sbo in strides:
            for start in starts:
                case(k, IMAGE, 0, 0, desc(start, lbo, sbo, swizzle), keep=0, classes=("identity", "places", "zero"), raw=1, kind="H")
        for start in (0, 128, 256, 640, 896, 1024):
            for base in (1, 2, 5, 7):
                case(k, IMAGE, 0, 0, desc(start, 1024, 2048, swizzle, base), keep=0, classes=("identity", "places", "zero"), raw=1, kind="H")
    for n in (8, 24, 256):
        k = kernel("f32", "f16", "f16", n, "rs", 0, tb)
        for swizzle in range(4):
            for lbo, sbo in ((1024, 2048), (2048, 1024)):
                case(k, IMAGE, 0, 0, desc(0, lbo, sbo, swizzle), keep=0, classes=("identity", "places", "zero"), raw=1, kind="H")
for ta in (0, 1):
    k = kernel("f32", "f16", "f16", 16, "ss", ta, 0)
    identity = desc(IMAGE, 128, 256)
    for swizzle in range(4):
        for lbo, sbo in strides:
            for start in starts[:5]:
                case(k, IMAGE + 512, IMAGE, desc(start, lbo, sbo, swizzle), identity, keep=0, classes=("places", "identity", "zero"), raw=1, kind="h")
        for start in (128, 640):
            for base in (1, 5):
                case(k, IMAGE + 512, IMAGE, desc(start, 1024, 2048, swizzle, base), identity, keep=0, classes=("places", "identity", "zero"), raw=1, kind="h")
# Swizzles of other widths: tiles as TMA leaves them, four steps through rows of the swizzle's width.
for d, a, b in [FLOATS[2], FLOATS[3], FLOATS[4], INTS[0], ("s32", "b1", "b1")]:
    k = kernel(d, a, b, 32)
    for swizzle, row in ((1, 128), (2, 64), (3, 32)):
        steps = row // 32
        split = 64 * row
        cls = "any" if d == "s32" else "mid"
        case(k, split + max(1024, 32 * row), split, desc(0, 16, 8 * row, swizzle), desc(split, 16, 8 * row, swizzle), (32, 32), steps, 1, (cls, cls, cls), 4, 1)

with open("cases.txt", "w") as f:
    f.write("# kernel image split a b a_step b_step chain keep class_a class_b class_c tiles raw kind\n")
    for k, image, split, a, b, sa, sb, chain, keep, ca, cb, cc, tiles, raw, kind in cases:
        f.write(f"{k} {image} {split} {a:x} {b:x} {sa} {sb} {chain} {keep} {ca} {cb} {cc} {tiles} {raw} {kind}\n")

PARTS = 4
files = [open(f"kernels_{i}.cu", "w") for i in range(PARTS)]
tables = [[] for _ in range(PARTS)]
for f in files:
    f.write('#include "common.h"\n')
for i, (name, (d, a, b, n, form, ta, tb, sa, sb, sat, undo)) in enumerate(kernels.items()):
    k = K_BYTES * 8 // BITS[a]
    regs = n // 4 if d == "f16" else n // 2

    def asm(neg):
        head = f"wgmma.mma_async.sync.aligned.m64n{n}k{k}" + (".satfinite" if sat else "") + f".{d}.{a}.{b}" + (".and.popc" if a == "b1" else "")
        ops = "{" + ", ".join(f"%{r}" for r in range(regs)) + "}, "
        at = regs
        if form == "rs":
            ops += "{" + ", ".join(f"%{at + r}" for r in range(4)) + "}, "
            at += 4
        else:
            ops += f"%{at}, "
            at += 1
        ops += f"%{at}, p"
        if d != "s32":
            ops += f", {-sa if neg else sa}, {sb}"
            if BITS[a] == 16:
                ops += f", {ta}, {tb}" if form == "ss" else f", {tb}"
        text = f'asm volatile("{{.reg .pred p; setp.ne.b32 p, %{at + 1}, 0; {head} {ops};}}" : '
        text += ", ".join(f'"+r"(c[{r}])' for r in range(regs)) + " : "
        text += ", ".join(f'"r"(a[{r}])' for r in range(4)) if form == "rs" else '"l"(da)'
        return text + ', "l"(db), "r"(keep));'

    out = files[i % PARTS]
    loads = f"uint32_t c[{regs}]; for (int i = 0; i < {regs}; i++) c[i] = p.c[(blockIdx.x * 128 + threadIdx.x) * {regs} + i];\n"
    if form == "rs":
        loads += "uint32_t a[4]; for (int i = 0; i < 4; i++) a[i] = p.a[(blockIdx.x * 128 + threadIdx.x) * 4 + i];\n"
    else:
        loads += "uint64_t da = p.da + place;\n"
    undo_text = ""
    if undo:
        undo_text = ("keep = 1; da = p.da + place; db = p.db + place;\nfor (int i = 0; i < p.chain; i++) {\n" + asm(True)
                     + "\nda += p.a_step; db += p.b_step; }\n")
    step_a = "" if form == "rs" else "da += p.a_step; "
    out.write(f"""__global__ void __launch_bounds__(128) k{i}(Params p) {{
uint32_t place = copy_image(p);
{loads}uint64_t db = p.db + place; uint32_t keep = p.keep;
long long start = clock64();
asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
for (int i = 0; i < p.chain; i++) {{
{asm(False)}
keep = 1; {step_a}db += p.b_step;
}}
{undo_text}asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
asm volatile("wgmma.wait_group.sync.aligned 0;" : {", ".join(f'"+r"(c[{r}])' for r in range(regs))} :: "memory");
long long end = clock64();
for (int i = 0; i < {regs}; i++) p.d[(blockIdx.x * 128 + threadIdx.x) * {regs} + i] = c[i];
if (threadIdx.x == 0) p.clocks[blockIdx.x] = end - start;
}}
""")
    tables[i % PARTS].append(f'{{"{name}", (void*)k{i}, "{d}", "{a}", "{b}", {n}, {regs}, {int(form == "rs")}}},')
for i, f in enumerate(files):
    f.write(f"extern const Kernel table_{i}[] = {{\n" + "\n".join(tables[i]) + f"\n}};\nextern const int n_{i} = {len(tables[i])};\n")
    f.close()
print(len(kernels), "kernels", len(cases), "cases")
