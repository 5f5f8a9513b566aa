#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""strided.py BUILD: a hundred kernels whose strides, pitches and offsets are arguments.

Ten forms of access, each with five element types and two index types. Trimtab profiles them once, at strides that it plans;
each is then launched with strides drawn from those that programs have (1, a few, a row, a padded row, a plane). `trimtab
bench` times the block that was chosen by fits, the block as written, and other legal blocks, each by the launch's own counts
(modelled times of the emulated device). So it is seen what a choice costs that was made from another stride's profile.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile

TYPES = ["float", "double", "unsigned char", "short", "float2"]
INDICES = ["int", "long long"]
SUM = {"float2": "make_float2(a.x + b.x, a.y + b.y)"}

# name: dimensions, arguments besides the arrays and their kind, body. T: element, I: index; e(): combines two elements.
FORMS = {
    "line": (1, {"n": "n", "so": "stride", "sa": "stride"}, "if (x < n) o[x * so] = a[x * sa];"),
    "offset": (1, {"n": "n", "oo": "offset", "oa": "offset", "sa": "stride"},
               "if (x < n) o[x + oo] = a[x * sa + oa];"),
    "axpy": (1, {"n": "n", "so": "stride", "sa": "stride", "sb": "stride"},
             "if (x < n) o[x * so] = e(a[x * sa], b[x * sb]);"),
    "channels": (1, {"n": "n", "channels": "few"},
                 "if (x < n) for (I c = 0; c < channels; c++) o[x * channels + c] = e(a[x * channels + c], b[c]);"),
    "columns": (1, {"n": "n", "rows": "rows", "pitch": "pitch", "step": "stride"},
                "if (x >= n) return; T s = b[x]; for (I k = 0; k < rows; k++) s = e(s, a[k * pitch + x * step]); "
                "o[x] = s;"),
    "rows": (1, {"n": "few_n", "columns": "rows", "pitch": "row_pitch", "step": "stride"},
             "if (x >= n) return; T s = b[x]; for (I k = 0; k < columns; k++) s = e(s, a[x * pitch + k * step]); "
             "o[x] = s;"),
    "plane": (2, {"w": "w", "h": "h", "po": "pitch", "qo": "stride", "pa": "pitch", "qa": "stride"},
              "if (x < w && y < h) o[y * po + x * qo] = a[y * pa + x * qa];"),
    "transposed": (2, {"w": "w", "h": "h", "po": "pitch", "pa": "pitch"},
                   "if (x < w && y < h) o[x * po + y] = a[y * pa + x];"),
    "stencil": (2, {"w": "w", "h": "h", "p": "pitch", "q": "stride"},
                "if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return; I i = y * p + x * q; "
                "o[i] = e(e(a[i - q], a[i + q]), e(a[i - p], a[i + p]));"),
    "volume": (3, {"w": "w3", "h": "h3", "d": "d3", "p": "pitch3", "s": "plane"},
               "if (x < w && y < h && z < d) o[z * s + y * p + x] = e(a[z * s + y * p + x], b[z]);"),
}
BLOCKS = {1: (256, 1, 1), 2: (32, 8, 1), 3: (32, 4, 2)}
ELEMENTS = 1 << 22  # of an array: what every drawn launch stays within


def drawn(kind, random_, values):
    """A value of an argument as programs have it; `values`: those drawn before."""
    width = values.get("w", 512)
    if kind == "stride":
        return random_.choice([1, 1, 1, 2, 3, 4, 7, 16])
    if kind == "pitch":
        return random_.choice([4 * width, 2 * width, 2 * width + 32, 2 * width + 1])
    if kind == "pitch3":
        return random_.choice([width, width, width + 2, width + 32])
    if kind == "plane":
        return values["p"] * random_.choice([values["h"], values["h"] + 2])
    return {"n": lambda: random_.choice([50000, 65536, 100001]), "few_n": lambda: random_.choice([2048, 5000]),
            "few": lambda: random_.choice([1, 2, 3, 4, 8]), "offset": lambda: random_.choice([0, 1, 32, 1000]),
            "rows": lambda: random_.choice([16, 33, 64]), "row_pitch": lambda: random_.choice([1024, 800, 513]),
            "w": lambda: random_.choice([256, 500]), "h": lambda: random_.choice([200, 256]),
            "w3": lambda: random_.choice([64, 100]), "h3": lambda: random_.choice([32, 60]),
            "d3": lambda: random_.choice([16, 40])}[kind]()


def reach(form, values):
    """An upper bound of the largest index that the launch uses."""
    v = dict(values)
    if form in ("line", "axpy", "offset"):
        return v["n"] * max(v.get("so", 1), v["sa"], v.get("sb", 1)) + 2000
    if form == "channels":
        return v["n"] * v["channels"]
    if form == "columns":
        return v["rows"] * v["pitch"] + v["n"] * v["step"]
    if form == "rows":
        return v["n"] * v["pitch"] + v["columns"] * v["step"]
    if form == "plane":
        return max(v["h"] * v["po"] + v["w"] * v["qo"], v["h"] * v["pa"] + v["w"] * v["qa"])
    if form == "transposed":
        return max(v["w"] * v["po"] + v["h"], v["h"] * v["pa"] + v["w"])
    if form == "stencil":
        return v["h"] * v["p"] + v["w"] * v["q"]
    return v["d"] * v["s"] + v["h"] * v["p"]


def launches_of(form, random_, count):
    _, arguments, _ = FORMS[form]
    found = []
    while len(found) < count:
        values = {}
        for name, kind in arguments.items():
            values[name] = drawn(kind, random_, values)
        if reach(form, values) < ELEMENTS and values not in found:
            found.append(values)
    return found


def program(form, random_, count):
    """All of a form's kernels, with their launches."""
    dimensions, arguments, body = FORMS[form]
    names = "xyz"[:dimensions]
    text = ["#include <cuda_runtime.h>"]
    calls = []
    for t, element in enumerate(TYPES):
        for i, index in enumerate(INDICES):
            kernel = f"{form}_{element.replace(' ', '_')}_{index.replace(' ', '_')}"
            places = "".join(f"I {d} = (I)blockIdx.{d} * blockDim.{d} + threadIdx.{d}; " for d in names)
            text += [f"namespace space{t}{i} {{", f"typedef {element} T;", f"typedef {index} I;",
                     f"__device__ inline T e(T a, T b) {{ return {SUM.get(element, 'a + b')}; }}",
                     f"__global__ void {kernel}(T* __restrict__ o, const T* __restrict__ a, const T* __restrict__ b, "
                     + ", ".join(f"I {name}" for name in arguments) + f") {{ {places}{body} }}", "}"]
            block = BLOCKS[dimensions]
            for values in launches_of(form, random_, count):
                extents = {1: (values.get("n"), 1, 1), 2: (values.get("w"), values.get("h"), 1),
                           3: (values.get("w"), values.get("h"), values.get("d"))}[dimensions]
                grid = [(e + b - 1) // b for e, b in zip(extents, block)]
                given = ", ".join(str(value) for value in values.values())
                calls.append(f"  space{t}{i}::{kernel}<<<dim3({grid[0]}, {grid[1]}, {grid[2]}), "
                             f"dim3({block[0]}, {block[1]}, {block[2]})>>>(({element}*)o, ({element}*)a, "
                             f"({element}*)b, {given});")
    text += ["int main() {", f"  char *o, *a, *b; size_t bytes = (size_t){ELEMENTS} * 8;",
             "  cudaMalloc(&o, bytes); cudaMalloc(&a, bytes); cudaMalloc(&b, bytes);",
             "  cudaMemset(a, 0, bytes); cudaMemset(b, 0, bytes);", *calls,
             "  return cudaDeviceSynchronize() != cudaSuccess;", "}"]
    return "\n".join(text) + "\n"


def measured(options, form, random_, folder):
    source, binary = os.path.join(folder, form + ".cu"), os.path.join(folder, form)
    with open(source, "w", encoding="utf-8") as file:
        file.write(program(form, random_, options.launches))
    tools = os.path.join(options.build, "bin")
    subprocess.run([os.path.join(tools, "trimtab++"), "-O3", "--trimtab-quiet", source, "-o", binary], check=True)
    done = subprocess.run([os.path.join(tools, "trimtab"), "bench", "--quiet", "--json", "--blocks", str(options.blocks),
                           "--device", options.device, "-o", os.path.join(folder, form + ".bench"), "--", binary],
                          stdout=subprocess.PIPE, text=True, check=True)
    rows = []
    for launch in json.loads(done.stdout)["launches"]:
        times = {name: launch["compared"][name]["median_ns"] for name in ("best", "as written", "chosen")}
        rows.append({"kernel": launch["demangled"].split("(")[0].split("::")[-1], "data": launch["data"],
                     "written": launch["written"]["block"], "chosen": launch["chosen"]["block"],
                     "written_ns": times["as written"], "chosen_ns": times["chosen"], "best_ns": times["best"]})
    return rows


def geometric_mean(values):
    return statistics.geometric_mean(values) if values else float("nan")


def summary(rows, kernels):
    known = [row for row in rows if row["chosen_ns"] and row["written_ns"] and row["best_ns"]]
    changed = [row for row in known if row["chosen"] != row["written"]]
    slower = [row for row in known if row["chosen_ns"] > 1.05 * row["written_ns"]]
    lost = [row for row in known if row["chosen_ns"] > 1.05 * row["best_ns"]]
    return {"kernels": kernels, "launches": len(rows), "changed": len(changed),
            "slower_than_written_by_5_percent": len(slower),
            "worst_against_written": max((row["chosen_ns"] / row["written_ns"] for row in known), default=None),
            "mean_gain_where_changed": 1 - geometric_mean([row["chosen_ns"] / row["written_ns"] for row in changed]),
            "chosen_over_best": geometric_mean([row["chosen_ns"] / row["best_ns"] for row in known]),
            "written_over_best": geometric_mean([row["written_ns"] / row["best_ns"] for row in known]),
            "more_than_5_percent_behind_best": len(lost),
            "more_than_5_percent_behind_best_and_changed": sum(row in changed for row in lost)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="a build folder of Trimtab")
    parser.add_argument("--device", default="rtx2070super")
    parser.add_argument("--blocks", default="12", help="other blocks to time for each launch, or all")
    parser.add_argument("--launches", type=int, default=2, help="of each kernel")
    parser.add_argument("--seed", type=int, default=1, help="for the arguments")
    parser.add_argument("--forms", nargs="+", choices=list(FORMS), default=list(FORMS))
    parser.add_argument("--json", action="store_true", help="every launch, too")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    random_ = random.Random(options.seed)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for form in options.forms:
            found = measured(options, form, random_, folder)
            rows += found
            print(f"{form}: {json.dumps(summary(found, len(TYPES) * len(INDICES)))}", file=sys.stderr, flush=True)
    total = summary(rows, len(options.forms) * len(TYPES) * len(INDICES))
    if options.json:
        print(json.dumps({"device": options.device, **total, "rows": rows}, indent=1))
        return 0
    for name, value in total.items():
        print(f"{name.replace('_', ' ')}: {value:.4g}" if isinstance(value, float) else f"{name.replace('_', ' ')}: {value}")
    for row in rows:
        if row["chosen_ns"] and row["written_ns"] and row["chosen_ns"] > 1.05 * row["written_ns"]:
            print(f"  slower: {row['kernel']} {row['data']}: {row['written']} {row['written_ns']:.0f} ns, "
                  f"{row['chosen']} {row['chosen_ns']:.0f} ns")
    return 0


if __name__ == "__main__":
    sys.exit(main())
