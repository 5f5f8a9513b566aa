#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many launches a search emulates until it has one within some per cent of the best of all: led by bottlenecks, and
in random order.

usage: search.py BUILD [--device SLUG] [--app A]... [--n N] [--within P] [--seeds S] [--convolution] [--json]

PolyBench samples (bench/selection_quality/polybench.json) are compiled by BUILD/bin/trimtab++; every block of whole
warps is emulated (`trimtab search --method exhaustive`), which says what the best is and, shuffled, what random order
needs; then `--method directed` searches. --convolution: the tiled convolution of bench/kernels over its macros, too.
Where the directed search has not found one when it ends, the rest in random order is added to what it needs.
Exit codes: 0 done, 2 usage, 3 bad input.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNELS = os.path.join(ROOT, "bench", "selection_quality", "polybench.json")
CONVOLUTION = [os.path.join(ROOT, "bench", "kernels", "convolution_tiled.cu"),
               "--variants=BLOCK_X=16,32,64,128", "--variants=BLOCK_Y=1,2,4,8,16", "--variants=TILE_X=1,2,4",
               "--variants=TILE_Y=1,2,4", "--where=BLOCK_X * BLOCK_Y >= 64 && BLOCK_X * BLOCK_Y <= 1024",
               "--grid=ceil(4096 / (BLOCK_X * TILE_X)), ceil(4096 / (BLOCK_Y * TILE_Y))", "--block=BLOCK_X, BLOCK_Y"]


def search(trimtab, arguments):
    done = subprocess.run([trimtab, "search", *arguments, "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"left out: {done.stderr.strip()}", file=sys.stderr)
        return None
    return json.loads(done.stdout)["steps"]


def needed(times, goal):
    return next((i + 1 for i, time in enumerate(times) if time <= goal), None)


def random_needed(times, goal, seeds):
    total = 0
    for seed in range(seeds):
        order = list(times)
        random.Random(seed).shuffle(order)
        total += needed(order, goal)
    return total / seeds


def case(trimtab, name, arguments, options):
    every = search(trimtab, [*arguments, "--method=exhaustive"])
    led = every and search(trimtab, [*arguments, "--method=directed", f"--most={options.most}"])
    if not led:
        return None
    times = [step["ns"] for step in every]
    goal = min(times) * (1 + options.within / 100)
    row = {"case": name, "launches": len(times), "good": sum(time <= goal for time in times),
           "random": random_needed(times, goal, options.seeds)}
    found = needed([step["ns"] for step in led], goal)
    row["found"] = found is not None
    if found is None:
        tried = [step["values"] for step in led]
        rest = [step["ns"] for step in every if step["values"] not in tried]
        found = len(led) + random_needed(rest, goal, options.seeds)
    return row | {"directed": found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--device", default="rtx2070super")
    parser.add_argument("--app", action="append")
    parser.add_argument("--n", type=int, default=1024)
    parser.add_argument("--within", type=float, default=2)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--most", type=int, default=30, help="launches that the directed search may emulate")
    parser.add_argument("--convolution", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    trimtab = os.path.join(options.build, "bin", "trimtab")
    rows, seen = [], set()
    with open(KERNELS) as file:
        kernels = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        for kernel in kernels:
            if (options.app and kernel["app"] not in options.app) or kernel["symbol"] + kernel["source"] in seen:
                continue
            seen.add(kernel["symbol"] + kernel["source"])
            source = os.path.normpath(os.path.join(os.path.dirname(KERNELS), kernel["source"]))
            built = os.path.join(folder, os.path.basename(source) + ".o")
            if not os.path.exists(built) and subprocess.run(
                    [trimtab + "++", "-O3", "--trimtab-quiet", "--trimtab-profile=off",
                     "-I" + os.path.join(ROOT, "include"), "-c", source, "-o", built]).returncode != 0:
                print(f"search.py: {source} cannot be compiled", file=sys.stderr)
                return 3
            names = {"n": options.n}
            arguments = {name: eval(value, {}, names) for name, value in kernel["arguments"].items()}
            if "launches" in kernel:
                first, last = (eval(kernel["launches"][k], {}, names) for k in ("from", "to"))
                arguments[kernel["launches"]["argument"]] = (first + last) // 2
            extent = ",".join(str(eval(one, {}, names)) for one in kernel["extent"])
            rows.append(case(trimtab, f"{kernel['app']} {kernel['symbol']}",
                             [built, "--kernel", kernel["symbol"], "--device", options.device, "--extent", extent,
                              "--bypass-l1", *(f"--arg={name}={value}" for name, value in arguments.items())], options))
        if options.convolution:
            rows.append(case(trimtab, "convolution", [*CONVOLUTION, "--device", options.device], options))
    rows = [row for row in rows if row]
    if not rows:
        print("search.py: no case could be searched", file=sys.stderr)
        return 3
    total = {key: sum(row[key] for row in rows) for key in ("random", "directed")}
    if options.json:
        print(json.dumps({"cases": rows, "total": total, "ratio": total["directed"] / total["random"]}, indent=2))
        return 0
    print(f"{'':44} {'launches':>8} {'good':>5} {'random':>7} {'directed':>8}")
    for row in rows:
        print(f"{row['case']:44} {row['launches']:8} {row['good']:5} {row['random']:7.1f} {row['directed']:8.1f}"
              f"{'' if row['found'] else '  not found'}")
    print(f"{'total':44} {'':8} {'':5} {total['random']:7.1f} {total['directed']:8.1f}"
          f"  {total['directed'] / total['random']:.2f} of random's")
    return 0


if __name__ == "__main__":
    sys.exit(main())
