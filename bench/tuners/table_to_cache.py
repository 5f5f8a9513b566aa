#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A table of measured configurations (CSV: the parameters, then time_ms) as a cache for Kernel Tuner's simulation mode.

usage: table_to_cache.py TABLE.csv CACHE.json [--device NAME] [--kernel NAME]
Exit codes: 0 done, 2 usage, 3 bad input.
"""

import argparse
import csv
import json
import sys


def cache_of(path, device="device", kernel="kernel"):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or list(rows[0])[-1] != "time_ms":
        raise ValueError(f"{path}: the last column is not time_ms")
    names = list(rows[0])[:-1]
    values = {name: sorted({int(row[name]) for row in rows}) for name in names}
    cache = {}
    for row in rows:
        entry = {name: int(row[name]) for name in names} | {"time": float(row["time_ms"])}
        cache[",".join(row[name] for name in names)] = entry | {
            "compile_time": 0, "verification_time": 0, "benchmark_time": entry["time"], "framework_time": 0,
            "strategy_time": 0, "times": [entry["time"]]}
    return {"device_name": device, "kernel_name": kernel, "problem_size": 1, "tune_params_keys": names,
            "tune_params": values, "objective": "time", "cache": cache}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("cache")
    parser.add_argument("--device", default="device")
    parser.add_argument("--kernel", default="kernel")
    options = parser.parse_args()
    try:
        cache = cache_of(options.table, options.device, options.kernel)
    except (OSError, ValueError) as error:
        print(f"table_to_cache.py: {error}", file=sys.stderr)
        return 3
    with open(options.cache, "w") as file:
        json.dump(cache, file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
