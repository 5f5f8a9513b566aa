#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evaluations that Kernel Tuner needs in simulation mode until it has a configuration within some per cent of a table's
best, and until the best: by its own strategies alone, and by the same from the leaders of `trimtab search --format
kernel-tuner -o LEADERS.json`.

usage: simulation.py TABLE.csv LEADERS.json [--strategy S]... [--seeds N] [--share F] [--most N] [--leaders-used N] [--json]

Needs the package kernel_tuner. From the leaders: the first ones (--leaders-used) are evaluated in their order, then the strategy
starts from the fastest of them (strategy_options={"x0": ...}; random_sample knows no start, and just goes on; `trimtab` is
given them all). What is evaluated twice counts once, what the table lacks counts. A run that does not get there within
--most counts as --most. With `restricted`, Kernel Tuner is given the file's restriction and samples at random in it.
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
import warnings

from table_to_cache import cache_of


def evaluations(cache_path, names, strategy, seed, goals, most, first=(), leaders=None, restrictions=None):
    """For each of `goals` (ms): distinct configurations evaluated until one takes no longer; `most` where there was none.
    `first`: configurations and times (None: the device refused it) that are evaluated before the strategy begins."""
    import numpy
    from kernel_tuner.interface import tune_cache
    random.seed(seed)
    numpy.random.seed(seed)
    seen, needed = set(), [most] * len(goals)

    def take(configuration, ms):
        seen.add(configuration)
        for i, goal in enumerate(goals):
            if ms is not None and ms <= goal and needed[i] == most:
                needed[i] = len(seen)

    for configuration, ms in first:
        take(configuration, ms)
    options = {"max_fevals": most}
    measured = [(ms, configuration) for configuration, ms in first if ms is not None]
    if strategy == "trimtab":
        from trimtab.kernel_tuner import strategy as make
        strategy = make(leaders=leaders)
    elif measured and strategy != "random_sample":
        options["x0"] = list(min(measured)[1])
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results, _ = tune_cache(cache_path, restrictions=restrictions, strategy=strategy, quiet=True, strategy_options=options)
    for result in results:
        if result is not None:
            take(tuple(result[name] for name in names), result["time"] if isinstance(result["time"], float) else None)
    return [min(count, most) for count in needed]


def mean(counts):
    return sum(counts) / len(counts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table")
    parser.add_argument("leaders")
    parser.add_argument("--strategy", action="append")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--share", type=float, default=0.95, help="of the best's speed")
    parser.add_argument("--most", type=int, default=500, help="evaluations")
    parser.add_argument("--leaders-used", type=int, default=10, help="of the file's")
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
    best = min(entry["time"] for entry in table["cache"].values())
    goal = best / options.share
    ordered = sorted(leaders["cache"].values(), key=lambda entry: entry["time"])[:options.leaders_used]
    measured = [table["cache"].get(",".join(str(entry[name]) for name in names)) for entry in ordered]
    # What the table lacks was refused by the device: an evaluation all the same.
    first = [(tuple(entry[name] for name in names), one["time"] if one else None) for entry, one in zip(ordered, measured)]
    of_leaders = next((i + 1 for i, (_, ms) in enumerate(first) if ms is not None and ms <= goal), None)
    best_leader = min((ms for _, ms in first if ms is not None), default=float("inf"))
    out = {"table": os.path.basename(options.table), "configurations": len(table["cache"]), "best_ms": best,
           "leaders": len(ordered), "leaders_measured": sum(ms is not None for _, ms in first),
           "best_leader_share": best / best_leader, "leaders_needed": of_leaders, "strategies": {}}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cache.json")
        with open(path, "w") as file:
            json.dump(table, file)
        for strategy in options.strategy or ["random_sample", "genetic_algorithm", "greedy_ils", "diff_evo", "simulated_annealing"]:
            counts = {}
            for way, seeds in (("alone", ()), ("from_leaders", first)):
                runs = [evaluations(path, names, strategy, seed, (goal, best), options.most, seeds, leaders if seeds else None)
                        for seed in range(options.seeds)]
                near, exact = zip(*runs)
                counts[way] = {"to_share": mean(near), "to_best": mean(exact), "share_missed": sum(one == options.most for one in near),
                               "best_missed": sum(one == options.most for one in exact)}
            out["strategies"][strategy] = counts
            if not options.json:
                print(f"{strategy:20} " + "; ".join(
                    f"{way.replace('_', ' ')}: {one['to_share']:.1f} ({one['share_missed']}), to the best {one['to_best']:.1f} "
                    f"({one['best_missed']})" for way, one in counts.items()), flush=True)
        if of_leaders:
            runs = [evaluations(path, names, "random_sample", seed, (goal,), len(ordered), restrictions=leaders["restrictions"])
                    for seed in range(options.seeds)]
            out["restricted"] = mean([count for count, in runs])
    if options.json:
        print(json.dumps(out, indent=2))
        return 0
    print(f"{out['table']}: {out['configurations']} configurations; the best of {out['leaders']} leaders reaches "
          f"{out['best_leader_share']:.3f} of the best")
    if "restricted" in out:
        print(f"  random_sample within the restriction: {out['restricted']:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
