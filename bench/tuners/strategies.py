#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evaluations that search strategies need in Kernel Tuner's simulation mode over a table of measured times: to 95 % of
the best's speed, and to the best. Trimtab's strategy (python/trimtab/kernel_tuner.py) beside Kernel Tuner's own.

usage: strategies.py TABLE.csv... [--strategy S]... [--seeds N] [--share F] [--most N] [--json]

Needs the packages kernel_tuner and trimtab (or PYTHONPATH=python). A run that does not get there within --most counts
as --most. Exit codes: 0 done, 2 usage, 3 bad input.
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

OWN = ["random_sample", "genetic_algorithm", "greedy_ils", "diff_evo", "simulated_annealing", "pso"]


def counts(cache_path, names, strategy, seed, goals, most):
    """For each of `goals` (ms): distinct configurations evaluated until one takes no longer."""
    import numpy
    from kernel_tuner.interface import tune_cache
    random.seed(seed)
    numpy.random.seed(seed)
    if strategy == "trimtab":
        from trimtab.kernel_tuner import strategy as make
        strategy = make()
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results, _ = tune_cache(cache_path, strategy=strategy, quiet=True, strategy_options={"max_fevals": most})
    seen, needed = set(), [most] * len(goals)
    for result in results:
        if result is None:
            continue
        seen.add(tuple(result[name] for name in names))
        for i, goal in enumerate(goals):
            if needed[i] == most and isinstance(result["time"], float) and result["time"] <= goal:
                needed[i] = len(seen)
    return needed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--strategy", action="append", help="trimtab, or one of Kernel Tuner's; default: several")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--share", type=float, default=0.95, help="of the best's speed")
    parser.add_argument("--most", type=int, default=500, help="evaluations")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    out = []
    for path in options.tables:
        try:
            table = cache_of(path)
        except (OSError, ValueError) as error:
            print(f"strategies.py: {error}", file=sys.stderr)
            return 3
        best = min(entry["time"] for entry in table["cache"].values())
        about = {"table": os.path.basename(path), "configurations": len(table["cache"]), "strategies": {}}
        with tempfile.TemporaryDirectory() as folder:
            cache = os.path.join(folder, "cache.json")
            with open(cache, "w") as file:
                json.dump(table, file)
            for strategy in options.strategy or ["trimtab", *OWN]:
                runs = [counts(cache, table["tune_params_keys"], strategy, seed, (best / options.share, best),
                               options.most) for seed in range(options.seeds)]
                near, exact = zip(*runs)
                about["strategies"][strategy] = {
                    "to_share": sum(near) / len(near), "to_best": sum(exact) / len(exact),
                    "share_missed": sum(count == options.most for count in near),
                    "best_missed": sum(count == options.most for count in exact)}
                if not options.json:
                    found = about["strategies"][strategy]
                    print(f"{about['table']} ({about['configurations']}) {strategy:20} to {options.share:.0%} "
                          f"{found['to_share']:6.1f}  to the best {found['to_best']:6.1f} "
                          f"({found['share_missed']} and {found['best_missed']} of {len(runs)} not within {options.most})",
                          flush=True)
        out.append(about)
    if options.json:
        print(json.dumps(out, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
