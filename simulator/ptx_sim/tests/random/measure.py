# Runs the programs that `write_programs` wrote on a GPU, through the driver.
#
#     python3 measure.py FOLDER OUT [LEVEL]
#
# LEVEL is ptxas' optimisation, 0 if not given; ptxas is PTXAS or found on the path. OUT gets
#
# - `hashes.txt`, in the format of `simulated.txt`, `failed` for a program that failed or hung;
# - `raw.bin`, the words of the first programs that differ from it, each after its number;
# - `beginnings.txt`, for these programs compiled up to each of their statements, a line of
#   `NUMBER STATEMENTS` and a hash of each written word over all threads.
#
# The programs run in separate processes, so that one that fails does not end others.
import ctypes
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy

folder, out = sys.argv[1], sys.argv[2]
level = sys.argv[3] if len(sys.argv) > 3 else "0"
ptxas = os.environ.get("PTXAS", "ptxas")
threads, input_words, output_words, n_inputs, whole = map(int, open(f"{folder}/shape.txt").read().split())
n_words = threads * output_words

# The marker before each statement of an entry, and its end; the stack that programs need.
MARK = "\t// statement\n"
STACK_BYTES = 32768
# No program takes this long.
HUNG_SECONDS = 20
# Nor do all of them together.
ALL_SECONDS = 150
MOST_RAW, MOST_SPLIT = 300, 100


def read_simulated():
    lines = (line.split() for line in open(f"{folder}/simulated.txt"))
    return {int(number): (hash, [int(word, 16) for word in structure]) for number, hash, *structure in lines}


def mixed(words, axis):
    places = numpy.arange(1, words.shape[axis] + 1, dtype=numpy.uint64)
    places = places.reshape(-1, 1) if words.ndim == 2 else places
    with numpy.errstate(over="ignore"):
        z = words ^ (places * numpy.uint64(0x9E3779B97F4A7C15))
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        return (z ^ (z >> numpy.uint64(31))).sum(axis=axis, dtype=numpy.uint64)


def compile(path):
    cubin = f"{scratch}/{os.path.basename(path)}.cubin"
    command = [ptxas, "-arch=sm_90a", f"-O{level}", path, "-o", cubin]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        print(path, "takes too long", flush=True)
        return None
    if run.returncode != 0:
        print(os.path.basename(path), run.returncode, (run.stderr + run.stdout)[:600], flush=True)
        return None
    return cubin


def compile_module(path):
    """The cubins of a module with the numbers of their programs; ptxas 13.0 fails on some
    modules whose programs it compiles one by one."""
    numbers = programs_in(path)
    cubin = compile(path)
    if cubin or len(numbers) < 2:
        return [(cubin, numbers)]
    header, *programs = open(path).read().split("// program ")
    single = []
    for number, text in zip(numbers, programs):
        path = f"{scratch}/single_{number}.ptx"
        with open(path, "w") as file:
            file.write(f"{header}// program {text}")
        single.append((compile(path), [number]))
    return single


class Gpu:
    """A context, buffers, and programs run in it."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        context, device = ctypes.c_void_p(), ctypes.c_int()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.call("cuCtxSetLimit", 0, ctypes.c_size_t(STACK_BYTES))
        inputs = open(f"{folder}/inputs.bin", "rb").read()
        self.data, self.result = ctypes.c_uint64(), ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(self.data), ctypes.c_size_t(len(inputs)))
        self.call("cuMemAlloc_v2", ctypes.byref(self.result), ctypes.c_size_t(8 * n_words))
        self.call("cuMemcpyHtoD_v2", self.data, inputs, ctypes.c_size_t(len(inputs)))
        self.path, self.module = None, ctypes.c_void_p()

    def call(self, name, *arguments):
        code = getattr(self.cuda, name)(*arguments)
        if code != 0:
            raise SystemExit(f"{name}: error {code}")

    def run(self, path, number, structure):
        if path != self.path:
            if self.path:
                self.call("cuModuleUnload", self.module)
            self.call("cuModuleLoad", ctypes.byref(self.module), path.encode())
            self.path = path
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), self.module, f"program_{number}".encode())
        source = ctypes.c_uint64(self.data.value + number % whole % n_inputs * 8 * threads * input_words)
        extra = (ctypes.c_uint64 * 4)(*structure)
        params = (ctypes.c_void_p * 3)(*map(ctypes.addressof, (source, self.result, extra)))
        size = ctypes.c_size_t(8 * n_words)
        self.call("cuMemsetD8_v2", self.result, ctypes.c_ubyte(0), size)
        self.call("cuLaunchKernel", function, 1, 1, 1, threads, 1, 1, 0, None, params, None)
        words = numpy.zeros(n_words, dtype=numpy.uint64)
        self.call("cuMemcpyDtoH_v2", words.ctypes.data_as(ctypes.c_void_p), self.result, size)
        return words


def worker():
    """Runs `PATH KEY NUMBER` of each line of its input; gives the key and the words."""
    gpu, simulated = Gpu(), read_simulated()
    for line in sys.stdin:
        path, key, number = line.split()
        words = gpu.run(path, int(number), simulated[int(number)][1])
        sys.stdout.buffer.write(key.encode() + b"\n" + words.tobytes())
        sys.stdout.buffer.flush()


class Runner(threading.Thread):
    """A worker process, replaced when it fails or hangs."""

    def __init__(self, jobs, take, deadline):
        super().__init__()
        self.jobs, self.take, self.deadline, self.process = jobs, take, deadline, None

    def run(self):
        while time.time() < self.deadline:
            try:
                job = self.jobs.get_nowait()
            except queue.Empty:
                break
            self.take(job, self.ask(job))
        if self.process:
            self.process.stdin.close()
            self.process.wait()

    def ask(self, job):
        patience = HUNG_SECONDS
        if self.process is None:
            patience += 40
            command = [sys.executable, sys.argv[0], folder, out, level, "worker"]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process, data = self.process, b""
        alarm = threading.Timer(patience, process.kill)
        alarm.start()
        try:
            process.stdin.write(" ".join(map(str, job)).encode() + b"\n")
            process.stdin.flush()
            process.stdout.readline()
            data = process.stdout.read(8 * n_words)
        except BrokenPipeError:
            pass
        alarm.cancel()
        if len(data) == 8 * n_words:
            return numpy.frombuffer(data, dtype=numpy.uint64)
        process.kill()
        process.wait()
        self.process = None
        return None


def run_all(jobs, n_workers=6):
    """The results of the jobs `(PATH, KEY, NUMBER)`, by key."""
    waiting, results, lock = queue.Queue(), {}, threading.Lock()
    deadline = time.time() + ALL_SECONDS
    for job in jobs:
        waiting.put(job)

    def take(job, words):
        with lock:
            results[job[1]] = words

    runners = [Runner(waiting, take, deadline) for _ in range(n_workers)]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    return results


def programs_in(path):
    names = (line.split("program_")[1] for line in open(path) if ".entry program_" in line)
    return [int(name.split("(")[0]) for name in names]


def write_beginnings(numbers, module_of):
    """Every program up to each of its statements, as files."""
    paths = []
    for number in numbers:
        text = open(module_of[number]).read()
        header = text[: text.index("// program ")]
        program = text[text.index(f"// program {number}\n") :]
        end = program.find("// program ", 1)
        parts = (program if end < 0 else program[:end]).split(MARK)
        for n in range(len(parts) - 1):
            path = f"{scratch}/{number}_{n}.ptx"
            with open(path, "w") as file:
                file.write(header + MARK.join(parts[: 1 + n] + parts[-1:]))
            paths.append((path, f"{number}_{n}", number))
    return paths


def main():
    simulated = read_simulated()
    started = time.time()
    modules = sorted(f"{folder}/{name}" for name in os.listdir(folder) if name.endswith(".ptx"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        cubins = [cubin for module in pool.map(compile_module, modules) for cubin in module]
    print(f"{len(modules)} modules compiled in {time.time() - started:.1f} s", flush=True)
    started = time.time()
    module_of = {number: path for path in modules for number in programs_in(path)}
    results = run_all([(cubin, n, n) for cubin, numbers in cubins if cubin for n in numbers])
    hashes = {n: "failed" if words is None else f"{mixed(words, 0):016x}" for n, words in results.items()}
    different = sorted(n for n, hash in hashes.items() if simulated[n][0] != hash)
    print(f"{len(hashes)} programs in {time.time() - started:.1f} s, {len(different)} differ: {different[:200]}")
    print("failed:", [n for n, hash in sorted(hashes.items()) if hash == "failed"], flush=True)
    with open(f"{out}/hashes.txt", "w") as file:
        file.writelines(f"{n} {hash}\n" for n, hash in sorted(hashes.items()))
    with open(f"{out}/raw.bin", "wb") as file:
        for number in [n for n in different if results[n] is not None][:MOST_RAW]:
            file.write(numpy.uint64(number).tobytes() + results[number].tobytes())
    started = time.time()
    split = [n for n in different if results[n] is not None][:MOST_SPLIT]
    beginnings = [] if not split or MARK not in open(modules[0]).read() else write_beginnings(split, module_of)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        cubins = list(pool.map(compile, [path for path, _, _ in beginnings]))
    results = run_all([(cubin, key, n) for cubin, (_, key, n) in zip(cubins, beginnings) if cubin])
    with open(f"{out}/beginnings.txt", "w") as file:
        for _, key, _ in beginnings:
            words = results.get(key)
            if words is not None:
                columns = mixed(words.reshape(threads, output_words), 0)
                file.write(key.replace("_", " ") + "".join(f" {column:x}" for column in columns) + "\n")
    print(f"{len(beginnings)} beginnings in {time.time() - started:.1f} s", flush=True)


if sys.argv[-1] == "worker":
    worker()
else:
    with tempfile.TemporaryDirectory() as scratch:
        main()
