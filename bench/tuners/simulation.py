#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evaluations that Kernel Tuner needs in simulation mode until it has a configuration within some per cent of a table's
best: by its own strategies, and after the leaders of `trimtab search --format kernel-tuner -o LEADERS.json`.

usage: simulation.py TABLE.csv LEADERS.json [--strategy S]... [--seeds N] [--share F] [--most N] [--json]

Needs the package kernel_tuner. The leaders are evaluated in their order; where none is good enough, the strategy goes
on from there. With `restricted`, Kernel Tuner is given the file's restriction and samples at random in it.
Exit codes: 0 done, 2 usage, 3 bad input.
"""

import argparse
import contextlib
import io
import json
import os
import random
import sys
import tempfile

from table_to_cache import cache_of


def evaluations(cache_path, strategy, seed, goal, most, restrictions=None):
    """Distinct configurations evaluated until one takes no longer than `goal` ms; `most` where there was none."""
    import numpy
    from kernel_tuner.interface import tune_cache
    random.seed(seed)
    numpy.random.seed(seed)
    with contextlib.redirect_stdout(io.StringIO()):
        results, _ = tune_cache(cache_path, restrictions=restrictions, strategy=strategy, quiet=True,
                                strategy_options={"max_fevals": most})
    seen = set()
    for result in results:
        if result is None:
            continue
        seen.add(tuple(value for name, value in result.items() if name in NAMES))
        if isinstance(result["time"], float) and result["time"] <= goal:
            return len(seen)
    return most


NAMES = set()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("leaders")
    parser.add_argument("--strategy", action="append")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--share", type=float, default=0.95, help="of the best's speed")
    parser.add_argument("--most", type=int, default=500, help="evaluations")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    try:
        table = cache_of(options.table)
        with open(options.leaders) as file:
            leaders = json.load(file)
        names = table["tune_params_keys"]
        if set(leaders["tune_params_keys"]) != set(names):
            raise ValueError(f"{options.leaders}: its parameters are not those of {options.table}")
    except (OSError, ValueError, KeyError) as error:
        print(f"simulation.py: {error}", file=sys.stderr)
        return 3
    NAMES.update(names)
    best = min(entry["time"] for entry in table["cache"].values())
    goal = best / options.share
    ordered = sorted(leaders["cache"].values(), key=lambda entry: entry["time"])
    measured = [table["cache"].get(",".join(str(entry[name]) for name in names)) for entry in ordered]
    # What the table lacks was refused by the device: an evaluation all the same.
    of_leaders = next((i + 1 for i, entry in enumerate(measured) if entry and entry["time"] <= goal), None)
    best_leader = min((entry["time"] for entry in measured if entry), default=float("inf"))
    out = {"table": os.path.basename(options.table), "configurations": len(table["cache"]), "best_ms": best,
           "leaders": len(ordered), "best_leader_share": best / best_leader, "leaders_needed": of_leaders, "own": {},
           "after_leaders": {}}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cache.json")
        with open(path, "w") as file:
            json.dump(table, file)
        for strategy in options.strategy or ["random_sample", "genetic_algorithm", "greedy_ils", "diff_evo"]:
            counts = [evaluations(path, strategy, seed, goal, options.most) for seed in range(options.seeds)]
            out["own"][strategy] = sum(counts) / len(counts)
            out["after_leaders"][strategy] = of_leaders or len(ordered) + out["own"][strategy]
        if of_leaders:
            counts = [evaluations(path, "random_sample", seed, goal, len(ordered), leaders["restrictions"])
                      for seed in range(options.seeds)]
            out["restricted"] = sum(counts) / len(counts)
    if options.json:
        print(json.dumps(out, indent=2))
        return 0
    print(f"{out['table']}: {out['configurations']} configurations; the best of {out['leaders']} leaders reaches "
          f"{out['best_leader_share']:.3f} of the best")
    print(f"  {'strategy':20} {'alone':>8} {'after the leaders':>18}")
    for strategy, count in out["own"].items():
        print(f"  {strategy:20} {count:8.1f} {out['after_leaders'][strategy]:18.1f}")
    if "restricted" in out:
        print(f"  random_sample within the restriction: {out['restricted']:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
