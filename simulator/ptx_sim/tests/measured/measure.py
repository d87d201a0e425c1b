# Runs the instructions of `cases.txt` on a GPU, through the driver.
#
#     python3 measure.py OUT [ARCHITECTURE [PTXAS]]
#
# OUT gets `results.txt`, in the format of `h200.txt`, and `raw.npz`, the words themselves of the
# first warps. `main.rs` makes the same kernels and operands.
import ctypes, os, re, subprocess, sys
from concurrent.futures import ThreadPoolExecutor
import numpy as np

WARPS, BLOCK = 512, 64  # Warps of a case, and how many have a hash together.
RAW = 64
U = np.uint64


def expand(text):
    m = re.search("<([^<>]*)>", text)
    if not m:
        return [text]
    return [e for c in m[1].split("|") for e in expand(text[: m.start()] + c + text[m.end() :])]


def operands(text):
    found = []
    for word in text.split():
        name, kind = word.split("=")
        kind, n = kind.split(":")
        found.append((name.strip("*"), kind, int(n), name[0] == "*"))
    return found


def width(kind):
    return {"f64": 8, "64": 8, "none64": 8, "16": 2, "narrow16": 4, "int16": 2}.get(kind, 4)


def kernel(index, line):
    head, body = line.split("|", 1)
    ops = operands(head)
    for name, kind, _, _ in ops:
        body = body.replace("$" + name, kind)
    regs, loads, offset = "", "", 0
    for name, kind, n, memory in ops[:-1]:
        w = width(kind)
        if memory:
            loads += f"add.u64 %p_{name}, %in, {offset};\n"
            body = body.replace("{" + name + "}", "%p_" + name)
            regs += f".reg .b64 %p_{name};\n"
        else:
            regs += f".reg .b{8 * w} {', '.join(f'{name}_{i}' for i in range(n))};\n"
            for i in range(n):
                if kind[:4] != "none":
                    loads += f"ld.global.b{8 * w} {name}_{i}, [%lane{w} + {offset + 32 * w * i}];\n"
        if kind[:4] != "none":
            offset += 32 * w * n
    name, kind, n, memory = ops[-1]
    w = int(kind) // 8
    stores = ""
    if memory:
        body = body.replace("{" + name + "}", "%out")
    else:
        regs += f".reg .b{8 * w} {', '.join(f'{name}_{i}' for i in range(n))};\n"
        for i in range(n):
            stores += f"st.global.b{8 * w} [%to{w} + {32 * w * i}], {name}_{i};\n"
    for name, _, n, memory in ops:
        body = body.replace("{" + name + "}", "{" + ", ".join(f"{name}_{i}" for i in range(n)) + "}")
    lanes = "".join(f"mad.wide.u32 %lane{w}, %l, {w}, %in;\nmad.wide.u32 %to{w}, %l, {w}, %out;\n" for w in (2, 4, 8))
    size = 32 * w * ops[-1][2]
    text = f""".visible .entry case_{index}(.param .u64 from, .param .u64 to)
{{
.reg .b32 %l, %w;
.reg .b64 %in, %out, %lane2, %lane4, %lane8, %to2, %to4, %to8;
{regs}ld.param.u64 %in, [from];
ld.param.u64 %out, [to];
mov.u32 %w, %ctaid.x;
mad.wide.u32 %in, %w, {offset}, %in;
mad.wide.u32 %out, %w, {size}, %out;
mov.u32 %l, %laneid;
{lanes}{loads}{body};
{stores}ret;
}}
"""
    return text, offset, size


def mix(z):
    z = z * U(0x9E3779B97F4A7C15)
    z = (z ^ (z >> U(30))) * U(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> U(27))) * U(0x94D049BB133111EB)
    return z ^ (z >> U(31))


# Bits of exponent and fraction, and how far exponents go from that of 1.
FLOATS = {"f16": (5, 10, 6), "bf16": (8, 7, 20), "tf32": (8, 23, 20), "f32": (8, 23, 20), "f64": (11, 52, 40), "e4m3": (4, 3, 4), "e5m2": (5, 2, 8)}


def number(kind, r, mode):
    e_bits, m_bits, spread = FLOATS[kind]
    bias, top = (1 << (e_bits - 1)) - 1, (1 << e_bits) - 1
    q = mix(r ^ U(0x5555))
    sign, fraction = r & U(1), (r >> U(1)) & U((1 << m_bits) - 1)
    near = U(bias - 2) + q % U(5)
    wide = U(bias - spread) + q % U(2 * spread + 1)
    few = U(m_bits - 2)
    e = np.select([mode == 1, mode == 2, mode == 4], [wide, q % U(top), U(bias - 1) + q % U(3)], near)
    fraction = np.where(mode == 4, fraction >> few << few, fraction)
    special = (mode == 3) & ((q >> U(20)) % U(48) == U(0))
    which = (q >> U(32)) % U(6)
    e = np.where(special, np.select([which < U(2), which == U(5)], [U(0), U(top - 1)], U(top)), e)
    ones = U((1 << m_bits) - 1)
    fraction = np.where(special, np.select([which == U(0), which == U(2), which == U(5)], [U(0), U(0), ones], fraction), fraction)
    return sign << U(e_bits + m_bits) | e << U(m_bits) | fraction


# Numbers about those that conversions to few bits round to.
def narrow(kind, r, mode):
    e_bits, m_bits, _ = FLOATS[kind]
    bias, half = (1 << (e_bits - 1)) - 1, 1 << (e_bits - 1)
    q = mix(r ^ U(0x3333))
    kept = np.where(mode == 4, U(4), U(5))
    cut = U(m_bits) - kept
    fraction = (r >> U(1)) % (U(1) << kept) << cut
    fraction = fraction | np.where(mode == 1, U(1), U(0))
    reach = min(20, half - 2)
    e = U(bias - reach) + q % U(2 * reach)
    made = (r & U(1)) << U(e_bits + m_bits) | e << U(m_bits) | fraction
    return np.where((mode == 2) | (mode == 3), number(kind, r, mode), made)


EXTREMES = np.array([0x80808080, 0x7F7F7F7F, 0xFFFFFFFF, 0x88888888, 0x77777777, 0], dtype=U)


def word(kind, r, mode):
    low, q = r & U(0xFFFFFFFF), mix(r ^ U(0x7777))
    if kind == "int" or kind == "int16":
        value = np.select([mode == 3, mode == 4], [EXTREMES[(q % U(6)).astype(int)], low & q], low)
        return value & U(0xFFFF) if kind == "int16" else value
    if kind == "sum":
        return np.select([mode == 1, mode == 2, mode == 3], [U(0x7FFFFFFF) - q % U(5000), U(0x80000000) + q % U(5000), q % U(100)], low)
    if kind == "count":
        return np.where(mode == 3, low, q % U(70))
    if kind == "narrow":
        return narrow("f32", r, mode)
    parts = {"f16": 2, "bf16": 2, "e4m3": 4, "e5m2": 4, "narrow16": 2}.get(kind, 1)
    if parts == 1:
        return number(kind, r, mode)
    total = np.zeros_like(r)
    for i in range(parts):
        ri = mix(r + U(i + 1))
        part = narrow("f16", ri, mode) if kind == "narrow16" else number(kind, ri, mode)
        total = total | part << U(32 // parts * i)
    return total


def inputs(index, line):
    warps = np.arange(WARPS, dtype=U)[:, None]
    parts = []
    for place, (_, kind, n, _) in enumerate(operands(line.split("|", 1)[0])[:-1]):
        if kind[:4] == "none":
            continue
        words = np.arange(32 * n, dtype=U)[None, :]
        r = mix(U(index << 40) + (warps << U(20)) + U(place << 16) + words)
        bits = word(kind, r, np.broadcast_to(warps % U(5), r.shape))
        parts.append(bits.astype(f"<u{width(kind)}").view(np.uint8).reshape(WARPS, -1))
    return np.ascontiguousarray(np.concatenate(parts, axis=1))


def cases():
    here = os.path.dirname(os.path.abspath(__file__))
    lines = [l.strip() for l in open(f"{here}/cases.txt") if not l.startswith("#")]
    groups = [expand(line) for line in lines]
    starts = np.cumsum([0] + [len(g) for g in groups])
    return [[(int(s) + i, line) for i, line in enumerate(g)] for s, g in zip(starts, groups)]


def assemble(path, group, ptxas, arch):
    text = ".version 8.7\n.target " + arch + "\n.address_size 64\n" + "".join(kernel(i, l)[0] for i, l in group)
    open(path + ".ptx", "w").write(text)
    run = subprocess.run([ptxas, "-arch=" + arch, path + ".ptx", "-o", path + ".cubin"], capture_output=True, text=True)
    return run.stderr if run.returncode else None


def hashed(data):
    words = np.frombuffer(data.tobytes(), dtype=np.uint32).astype(U)
    return int(mix(words ^ (np.arange(1, len(words) + 1, dtype=U) * U(0x9E3779B97F4A7C15))).sum(dtype=U))


def main(out, arch="sm_90a", ptxas="ptxas"):
    groups = cases()
    def build(g):
        error = assemble(f"{out}/{groups[g][0][0]}", groups[g], ptxas, arch)
        if not error:
            return [(f"{out}/{groups[g][0][0]}.cubin", groups[g])]
        good = []
        for i, l in groups[g]:
            error = assemble(f"{out}/{i}", [(i, l)], ptxas, arch)
            print(f"case {i}: {l}: {error.splitlines()[0]}") if error else good.append((f"{out}/{i}.cubin", [(i, l)]))
        return good
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        built = [b for bs in pool.map(build, range(len(groups))) for b in bs]
    if "--build-only" in sys.argv:
        return
    cuda = ctypes.CDLL("libcuda.so.1")

    def check(code, what):
        if code:
            raise SystemExit(f"{what}: error {code}")

    device, context, module, function = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuInit(0), "cuInit")
    check(cuda.cuDeviceGet(ctypes.byref(device), 0), "device")
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "context")
    check(cuda.cuCtxSetCurrent(context), "context")
    source, result = ctypes.c_uint64(), ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(source), ctypes.c_size_t(64 << 20)), "memory")
    check(cuda.cuMemAlloc_v2(ctypes.byref(result), ctypes.c_size_t(64 << 20)), "memory")
    raw, lines = {}, []
    for path, group in built:
        check(cuda.cuModuleLoad(ctypes.byref(module), path.encode()), path)
        for i, line in group:
            _, _, size = kernel(i, line)
            data = inputs(i, line)
            found = np.zeros((WARPS, size), dtype=np.uint8)
            check(cuda.cuMemcpyHtoD_v2(source, ctypes.c_void_p(data.ctypes.data), ctypes.c_size_t(data.nbytes)), "copy")
            check(cuda.cuMemsetD8_v2(result, ctypes.c_ubyte(0xA5), ctypes.c_size_t(found.nbytes)), "clear")
            check(cuda.cuModuleGetFunction(ctypes.byref(function), module, f"case_{i}".encode()), "function")
            params = (ctypes.c_void_p * 2)(ctypes.addressof(source), ctypes.addressof(result))
            check(cuda.cuLaunchKernel(function, WARPS, 1, 1, 32, 1, 1, 0, None, params, None), "launch")
            check(cuda.cuMemcpyDtoH_v2(ctypes.c_void_p(found.ctypes.data), result, ctypes.c_size_t(found.nbytes)), line)
            raw[str(i)] = found[:RAW]
            raw[f"in{i}"] = data[:1]
            lines.append(f"{i} " + " ".join(f"{hashed(found[b : b + BLOCK]):016x}" for b in range(0, WARPS, BLOCK)))
        cuda.cuModuleUnload(module)
    open(f"{out}/results.txt", "w").write("\n".join(lines) + "\n")
    np.savez_compressed(f"{out}/raw.npz", **raw)
    print(len(lines), "cases")


if __name__ == "__main__":
    main(*[a for a in sys.argv[1:] if a[0] != "-"])
