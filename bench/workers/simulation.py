#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Preparing many kernels on many workers, by simulation: where it stops scaling, and why.

usage: simulation.py --times FILE [--mean-s F] [--kernels N] [--module-kernels N] [--workers N,N..] [--compile-at-once N]
                     [--compile-s F] [--describe-s F] [--generate-s F] [--handle-s F] [--load-s F] [--latency-s F]
                     [--bytes-per-s F] [--module-bytes N] [--task-bytes N] [--answer-bytes N] [--seed S] [--json]

FILE: seconds that one kernel's task took, one a line; kernels draw from them, scaled to --mean-s where that is given.
The model is what `trimtab prepare` does. Modules are taken one after the other. Of each, one process describes the
kernels, hands each worker one task at a time (pipeline/workers/pool.cpp), serves messages one after the other (--handle-s
an answer, and all bytes over its one link), sends the module once to each worker that gets a kernel of it (which loads it,
--load-s), then generates the driver programs and compiles them, --compile-at-once at a time. The defaults of the
coordinator's costs were measured (bench/README.md); the network's are a cluster's. Exit codes: 0 done, 2 usage, 3 bad
input.
"""

import argparse
import heapq
import json
import random
import sys


def on_workers(kernels, workers, options):
    """Seconds until the last answer of a module's kernels, and of those the coordinator's own."""
    free, busy = 0.0, 0.0
    begun = [False] * workers
    arrivals = [(options.latency_s, worker) for worker in range(workers)]
    following = 0
    while arrivals:
        at, worker = heapq.heappop(arrivals)
        begin = max(at, free)
        cost = options.handle_s + options.answer_bytes / options.bytes_per_s if begun[worker] else 0.0
        if following < len(kernels):
            load = 0.0 if begun[worker] else options.load_s
            cost += (options.task_bytes + (0 if begun[worker] else options.module_bytes)) / options.bytes_per_s
            begun[worker] = True
            heapq.heappush(arrivals, (begin + cost + 2 * options.latency_s + load + kernels[following], worker))
            following += 1
        free = begin + cost
        busy += cost
    return free, busy


def simulate(times, workers, options):
    """Seconds in all, by what they went into."""
    rng = random.Random(options.seed)
    parts = {"describe and generate": 0.0, "on workers": 0.0, "compile": 0.0}
    served = work = 0.0
    for first in range(0, options.kernels, options.module_kernels):
        count = min(options.module_kernels, options.kernels - first)
        kernels = [rng.choice(times) for _ in range(count)]
        work += sum(kernels)
        parts["describe and generate"] += count * (options.describe_s + options.generate_s)
        seconds, busy = on_workers(kernels, workers, options)
        parts["on workers"] += seconds
        served += busy
        parts["compile"] += -(-count // options.compile_at_once) * options.compile_s
    total = sum(parts.values())
    return {"workers": workers, "seconds": total, "parts": parts, "coordinator_serves": served / total,
            "workers_busy": work / (workers * total)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", required=True)
    parser.add_argument("--mean-s", type=float)
    parser.add_argument("--kernels", type=int, default=10_000)
    parser.add_argument("--module-kernels", type=int, default=40)
    parser.add_argument("--workers", default="1,2,4,8,16,32,64,128,256,512,1000")
    parser.add_argument("--compile-at-once", type=int, default=2)
    parser.add_argument("--compile-s", type=float, default=0.35)
    parser.add_argument("--describe-s", type=float, default=0.0003)
    parser.add_argument("--generate-s", type=float, default=0.0038)
    parser.add_argument("--handle-s", type=float, default=0.0013)
    parser.add_argument("--load-s", type=float, default=0.05)
    parser.add_argument("--latency-s", type=float, default=100e-6)
    parser.add_argument("--bytes-per-s", type=float, default=1.25e9, help="10 Gbit/s")
    parser.add_argument("--module-bytes", type=float, default=1.5e6)
    parser.add_argument("--task-bytes", type=float, default=5e3)
    parser.add_argument("--answer-bytes", type=float, default=40e3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        with open(options.times) as file:
            times = [float(line) for line in file if line.strip()]
        if not times or min(times) < 0:
            raise ValueError(f"{options.times}: no times")
        counts = [int(count) for count in options.workers.split(",")]
        if min(counts) < 1 or options.compile_at_once < 1 or options.module_kernels < 1:
            raise ValueError("numbers of workers, kernels and compilers are 1 at least")
    except (OSError, ValueError) as error:
        print(f"simulation.py: {error}", file=sys.stderr)
        return 3
    if options.mean_s:
        scale = options.mean_s * len(times) / sum(times)
        times = [scale * one for one in times]
    rows = [simulate(times, count, options) for count in counts]
    for row in rows:
        row["speed_up"] = rows[0]["seconds"] * counts[0] / row["seconds"]
    if options.json:
        print(json.dumps({"mean_task_s": sum(times) / len(times), "rows": rows}, indent=1))
        return 0
    print(f"{options.kernels} kernels in modules of {options.module_kernels}, {sum(times) / len(times):.3f} s a task "
          f"(of {len(times)} measured), {options.compile_at_once} compilers at once")
    print("workers   seconds  speed-up  describe+generate  on workers   compile  workers busy")
    for row in rows:
        parts = row["parts"]
        print(f"{row['workers']:7d} {row['seconds']:9.1f} {row['speed_up']:9.1f} {parts['describe and generate']:18.1f} "
              f"{parts['on workers']:11.1f} {parts['compile']:9.1f} {row['workers_busy']:13.0%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
