#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a build costs: a file of many small kernels, by clang++ alone, by trimtab++ with an empty cache, with an empty one
and no evidence, again (which precompiles headers), and with a full one.

    bench/build_cost/build_cost.py build [--kernels 60] [--runs 3] [--json]

Processor time (user and system) of the compiler and all that it starts, medians of the runs and their ratios, and what
the stripped program grew by for each kernel. The kernels differ: maps, stencils, rows, gathers, products, transposes,
of one and two dimensions, with constants of their own.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

# One body of each shape; K is the kernel's number, so that no two are equal.
SHAPES = [
    """const float *a, float *b, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[i] * Kf + sqrtf(a[i] + Kf);
}""",
    """const float *a, float *b, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= K && i < n - K) b[i] = a[i - K] + 2 * a[i] + a[i + K];
}""",
    """const float *a, float *b, int n, int m) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int j = 0; j < m; j++) sum += a[row * m + j] * Kf;
    b[row] = sum;
}""",
    """const float *a, const int *at, float *b, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) b[i] = a[at[i] % (n + K)] + Kf;
}""",
    """const float *a, float *b, int n, int m) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= 1 && x < n - 1 && y >= 1 && y < m - 1)
        b[y * n + x] = Kf * a[y * n + x] + a[y * n + x - 1] + a[y * n + x + 1] + a[(y - 1) * n + x] + a[(y + 1) * n + x];
}""",
    """const float *a, const float *b, float *c, int n, int m) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    float sum = Kf;
    for (int k = 0; k < m; k++) sum += a[y * m + k] * b[k * n + x];
    c[y * n + x] = sum;
}""",
    """const float *a, float *b, int n, int m) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < m) b[x * m + y] = a[y * n + x] + Kf;
}""",
    """const float *a, float *b, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        b[i] = a[i] > Kf ? a[i] - Kf : a[i] / (Kf + 1);
}""",
]


def source(kernels):
    text = []
    for k in range(kernels):
        body = SHAPES[k % len(SHAPES)].replace("Kf", f"{k + 1}.5f").replace("K", str(k + 1))
        text.append(f"__global__ void kernel_{k}({body}\n")
    text.append("int main(int argc, char **) {\n    if (argc < 100) return 0;\n")
    for k in range(kernels):
        shape = SHAPES[k % len(SHAPES)]
        parameters = shape[: shape.index(")")].split(",")
        arguments = ", ".join("nullptr" if "*" in p else "1000" for p in parameters)
        flat = "threadIdx.y" not in shape
        text.append(f"    kernel_{k}<<<{'4' if flat else 'dim3(4, 4)'}, {'256' if flat else 'dim3(16, 16)'}>>>({arguments});\n")
    text.append("}\n")
    return "".join(text)


def processor_seconds(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"build_cost: {' '.join(command)}:\n{done.stdout}{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def stripped_bytes(program):
    subprocess.run(["strip", "-o", f"{program}.stripped", program], check=True)
    return os.path.getsize(f"{program}.stripped")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--kernels", type=int, default=60)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    compiler = options.build.resolve() / "bin" / "trimtab++"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "many.cu").write_text(source(options.kernels))
        # clang++ with the very arguments that trimtab++ gives it, without its plugin: the same code.
        verbose = subprocess.run(["which", "clang++-22"], capture_output=True, text=True, check=True).stdout.strip()
        cuda = os.environ.get("CUDA_HOME", "/usr/local/cuda")
        plain = [verbose, "-O3", "--cuda-gpu-arch=sm_75", f"--cuda-path={cuda}", "-isystem", f"{cuda}/include/cccl",
                 "-Wno-unknown-cuda-version", "--cuda-include-ptx=all", "many.cu", f"-L{cuda}/lib64", "-lcudart", "-o", "plain"]
        ours = [str(compiler), "-O3", "--trimtab-quiet", "many.cu", "-o", "ours"]
        os.chdir(path)
        times = {"clang++": [], "cold": [], "second": [], "unchanged": [], "unchecked": []}
        for run in range(options.runs):
            environment = dict(os.environ, XDG_CACHE_HOME=str(path / f"cache{run}"))
            times["clang++"].append(processor_seconds(plain, environment))
            times["cold"].append(processor_seconds(ours, environment))
            times["second"].append(processor_seconds(ours, environment))
            times["unchanged"].append(processor_seconds(ours, environment))
            environment["XDG_CACHE_HOME"] = str(path / f"unchecked{run}")
            times["unchecked"].append(processor_seconds([*ours, "--trimtab-check=off"], environment))
        row = {"kernels": options.kernels, **{name: statistics.median(seconds) for name, seconds in times.items()}}
        row["cold_ratio"] = statistics.median(a / b for a, b in zip(times["cold"], times["clang++"]))
        row["unchanged_ratio"] = statistics.median(a / b for a, b in zip(times["unchanged"], times["clang++"]))
        row["evidence_ms_a_kernel"] = 1e3 * statistics.median(
            a - b for a, b in zip(times["cold"], times["unchecked"])) / options.kernels
        row["bytes"] = {"clang++": stripped_bytes("plain"), "trimtab++": stripped_bytes("ours")}
        row["bytes_a_kernel"] = (row["bytes"]["trimtab++"] - row["bytes"]["clang++"]) / options.kernels
    if options.json:
        print(json.dumps(row, indent=1))
        return
    print(f"{options.kernels} kernels, processor seconds: clang++ {row['clang++']:.2f}, "
          f"cold {row['cold']:.2f} ({row['cold_ratio']:.1f} times), second {row['second']:.2f}, unchanged {row['unchanged']:.2f} ({row['unchanged_ratio']:.2f} times); "
          f"cold without evidence {row['unchecked']:.2f}: {row['evidence_ms_a_kernel']:.0f} ms for each kernel's")
    print(f"stripped: clang++ {row['bytes']['clang++']} bytes, trimtab++ {row['bytes']['trimtab++']}, "
          f"{row['bytes_a_kernel'] / 1000:.1f} kB more for each kernel")


if __name__ == "__main__":
    main()
