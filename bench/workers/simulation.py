#!/usr/bin/env python3
"""Preparing many kernels on many workers, by simulation: where it stops scaling, and why.

usage: simulation.py --times FILE [--kernels N] [--workers N,N..] [--program-kernels N] [--program-bytes N]
                     [--task-bytes N] [--answer-bytes N] [--handle-us F] [--latency-us F] [--bytes-per-s F]
                     [--start-s F] [--seed S] [--json]

FILE: seconds that one kernel's task took, one a line, as bench/workers/task_times.sh measures them; kernels draw from
them. The model is pipeline/workers/pool.cpp's: one process hands each worker one task at a time, serves messages one
after the other (--handle-us each, and the bytes over its one link), sends a program once to a worker that gets a kernel
of it, and remembers each answer. The network has a latency each way. Workers begin after --start-s. Exit codes: 0 done,
2 usage, 3 bad input.
"""

import argparse
import heapq
import json
import random
import sys


def simulate(times, workers, options):
    """(seconds until the last answer, share of that in which the coordinator is busy, mean share a worker is busy)."""
    rng = random.Random(options.seed)
    kernels = [rng.choice(times) for _ in range(options.kernels)]
    latency = options.latency_us * 1e-6
    handle = options.handle_us * 1e-6
    send = lambda count: count / options.bytes_per_s
    clock = coordinator_free = options.start_s
    busy = 0.0
    holds = [-1] * workers
    done_work = 0.0
    # (when it reaches the coordinator, worker): hellos first, then answers.
    arrivals = [(clock + latency, worker) for worker in range(workers)]
    heapq.heapify(arrivals)
    following, end = 0, clock
    first = [True] * workers
    while arrivals:
        at, worker = heapq.heappop(arrivals)
        begin = max(at, coordinator_free)
        cost = handle + (0 if first[worker] else send(options.answer_bytes))
        first[worker] = False
        if following < len(kernels):
            program = following // options.program_kernels
            bytes_out = options.task_bytes + (options.program_bytes if holds[worker] != program else 0)
            load = options.load_s if holds[worker] != program else 0.0
            holds[worker] = program
            cost += handle + send(bytes_out)
            work = load + kernels[following]
            done_work += work
            following += 1
            heapq.heappush(arrivals, (begin + cost + latency + work + latency, worker))
        coordinator_free = begin + cost
        busy += cost
        end = max(end, coordinator_free)
    span = end - options.start_s
    return end, busy / span, done_work / (workers * span)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", required=True)
    parser.add_argument("--kernels", type=int, default=10_000)
    parser.add_argument("--workers", default="1,2,4,8,16,32,64,128,256,512,1000")
    parser.add_argument("--program-kernels", type=int, default=40, help="of one module")
    parser.add_argument("--program-bytes", type=float, default=1.5e6, help="PTX of a module")
    parser.add_argument("--task-bytes", type=float, default=12e3)
    parser.add_argument("--answer-bytes", type=float, default=60e3)
    parser.add_argument("--handle-us", type=float, default=1500, help="to read or write one message, and remember it")
    parser.add_argument("--load-s", type=float, default=0.15, help="in which a worker reads a program")
    parser.add_argument("--latency-us", type=float, default=100)
    parser.add_argument("--bytes-per-s", type=float, default=1.25e9, help="10 Gbit/s")
    parser.add_argument("--start-s", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        with open(options.times) as file:
            times = [float(line) for line in file if line.strip()]
        if not times or min(times) < 0:
            raise ValueError(f"{options.times}: no times")
        counts = [int(count) for count in options.workers.split(",")]
    except (OSError, ValueError) as error:
        print(f"simulation.py: {error}", file=sys.stderr)
        return 3
    rows, alone = [], None
    for count in counts:
        seconds, coordinator, worker = simulate(times, count, options)
        alone = alone or seconds * counts[0]
        rows.append({"workers": count, "seconds": seconds, "speed_up": alone / seconds, "efficiency": alone / seconds / count,
                     "coordinator_busy": coordinator, "workers_busy": worker})
    if options.json:
        print(json.dumps({"mean_task_s": sum(times) / len(times), "rows": rows}, indent=1))
        return 0
    print(f"{options.kernels} kernels, {sum(times) / len(times):.3f} s a task (of {len(times)} measured)")
    print("workers    seconds   speed-up  efficiency  coordinator busy  workers busy")
    for row in rows:
        print(f"{row['workers']:7d} {row['seconds']:10.1f} {row['speed_up']:10.1f} {row['efficiency']:10.2f} "
              f"{row['coordinator_busy']:16.0%} {row['workers_busy']:13.0%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
