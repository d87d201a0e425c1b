# Runs the programs that `write_programs` wrote on a GPU, through the driver.
#
#     python3 measure.py FOLDER OUT [ptxas]
#
# Every program is compiled twice, with and without optimisation, and run by both. OUT gets
# `hashes_O3.txt` and `hashes_O0.txt` (as `simulated.txt` has them), and the raw words of
# the first programs (or beginnings of programs) that differ from it.
import ctypes
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy

folder, out = sys.argv[1], sys.argv[2]
ptxas = sys.argv[3] if len(sys.argv) > 3 else "ptxas"
threads, input_words, output_words, n_inputs = map(int, open(f"{folder}/shape.txt").read().split())
simulated = dict(line.split() for line in open(f"{folder}/simulated.txt"))
modules = sorted(name for name in os.listdir(folder) if name.endswith(".ptx"))
cuda = ctypes.CDLL("libcuda.so.1")


def check(code, what):
    if code != 0:
        raise SystemExit(f"{what}: error {code}")


def compile(name, level):
    cubin = f"{out}/{name}.{level}.cubin"
    command = [ptxas, "-arch=sm_90a", f"-{level}", f"{folder}/{name}", "-o", cubin]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        print(name, level, run.stderr[:2000])
        return None
    return cubin


def hashed(words):
    with numpy.errstate(over="ignore"):
        z = words ^ (numpy.arange(1, len(words) + 1, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15))
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        return int((z ^ (z >> numpy.uint64(31))).sum(dtype=numpy.uint64))


started = time.time()
levels = ["O3", "O0"]
with ThreadPoolExecutor(os.cpu_count()) as pool:
    cubins = {level: list(pool.map(lambda name: compile(name, level), modules)) for level in levels}
print(f"compiled in {time.time() - started:.1f} s")

check(cuda.cuInit(0), "cuInit")
context, device = ctypes.c_void_p(), ctypes.c_int()
check(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "context")
check(cuda.cuCtxSetCurrent(context), "context")


def allocate(n_bytes):
    address = ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(n_bytes)), "cuMemAlloc")
    return address


inputs = open(f"{folder}/inputs.bin", "rb").read()
set_bytes = 8 * threads * input_words
data = allocate(len(inputs))
check(cuda.cuMemcpyHtoD_v2(data, inputs, ctypes.c_size_t(len(inputs))), "copy")
n_words = threads * output_words
result = allocate(8 * n_words)
raw = {}
for level in levels:
    started = time.time()
    hashes, different, kept = [], [], set()
    for name, cubin in zip(modules, cubins[level]):
        if cubin is None:
            continue
        module = ctypes.c_void_p()
        check(cuda.cuModuleLoad(ctypes.byref(module), cubin.encode()), "cuModuleLoad")
        for line in open(f"{folder}/{name}"):
            if ".entry program_" not in line:
                continue
            seed = int(line.split("program_")[1].split("(")[0])
            function = ctypes.c_void_p()
            check(cuda.cuModuleGetFunction(ctypes.byref(function), module, f"program_{seed}".encode()), "function")
            source = ctypes.c_uint64(data.value + seed % n_inputs * set_bytes)
            params = (ctypes.c_void_p * 2)(ctypes.addressof(source), ctypes.addressof(result))
            check(cuda.cuMemsetD8_v2(result, ctypes.c_ubyte(0), ctypes.c_size_t(8 * n_words)), "clear")
            check(cuda.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, None, params, None), "launch")
            words = numpy.zeros(n_words, dtype=numpy.uint64)
            check(cuda.cuMemcpyDtoH_v2(words.ctypes.data_as(ctypes.c_void_p), result, ctypes.c_size_t(8 * n_words)), f"program {seed}")
            hash = f"{hashed(words):016x}"
            hashes.append((seed, hash))
            if simulated.get(str(seed)) != hash:
                different.append(seed)
                # The first of a program's beginnings that differs.
                if seed % 8000 not in kept and len(kept) < 400:
                    kept.add(seed % 8000)
                    raw[f"{level}_{seed}"] = words
        cuda.cuModuleUnload(module)
    with open(f"{out}/hashes_{level}.txt", "w") as file:
        file.writelines(f"{seed} {hash}\n" for seed, hash in sorted(hashes))
    print(f"{level}: {len(hashes)} programs in {time.time() - started:.1f} s, {len(different)} differ: {different[:60]}")
numpy.savez_compressed(f"{out}/raw.npz", **raw)
for level in levels:
    for cubin in cubins[level]:
        if cubin:
            os.remove(cubin)
