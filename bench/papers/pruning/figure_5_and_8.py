# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import statistics

from item import Item, Row, geometric_mean

# Figures 5 and 8 (per cent) and table 3's last column (ms) by GPU, as the text gives them.
GPUS = {"k600": ("Quadro K600", 81.87, 21.84), "gtx645": ("GeForce GTX 645", 78.42, 25.82), "k620": ("Quadro K620", 76.56, 25.55),
        "940m": ("GeForce 940M", 77.02, 25.48)}
PER_ESTIMATE_MS = 931.33
STATIC = "algorithm-4"


def item_of(results):
    rows = []
    for gpu, (title, pruned, part) in GPUS.items():
        of = [one for one in results if one["device"] == gpu]

        def mean(method, key, of=of):
            return 100 * statistics.fmean(one[method][key] for one in of)
        rows += [
            Row(f"{title}: static pruning (sections 6.1 and 6.2: algorithm 4, equations 11 to 21)", pruned, mean(STATIC, "pruned"), "%",
                better="higher"),
            Row(f"{title}: `trimtab prune`, sizes that are not simulated", None, mean("screened", "pruned"), "%",
                why="another method: estimates, then a few simulations"),
            Row(f"{title}: time of algorithm 4, of the exhaustive simulation's", part, mean(STATIC, "part_of_exhaustive"), "%", better="lower",
                why="it makes the traces of all sizes", timed=True),
            Row(f"{title}: time of `trimtab prune`'s search, of the exhaustive simulation's", part, mean("screened", "part_of_exhaustive"), "%",
                better="lower", timed=True),
            Row(f"{title}: one answer of `trimtab prune`, mean over the launches", None, mean("screened", "ms") / 100, "ms", timed=True),
            Row(f"{title}: its time over that of the best of a sample, simulated, geometric mean", None,
                geometric_mean(1 + max(0, one["screened"]["lost"]) for one in of)),
            Row(f"{title}: the same of algorithm 4's", None, geometric_mean(1 + max(0, one[STATIC]["lost"]) for one in of)),
        ]
    each = statistics.fmean(one["ms_per_estimate"] for one in results)
    rows.append(Row("one estimate, mean over a sample of the sizes of the 35 launches (table 3: of its 20 kernels)", PER_ESTIMATE_MS, each,
                    "ms", better="lower", timed=True))
    return Item("Figures 5 and 8, table 3's time per estimate: what is pruned, and what it costs", rows, [
        "The 35 launches of table 4, in kernels written anew from what they compute. Shares are means over launches. Times are of "
        "this machine's processor. How far a chosen size is from "
        "the truly best one (figure 6) needs measured times of these GPUs, which are not at hand."])


def run(trimtab):
    path = os.path.join(trimtab.folder.name, "pruning.json")
    trimtab.bench("bin/pruning", "--repeats", "1", "--static-pruning", "--sample", "24", "--output", path)
    with open(path) as file:
        return item_of(json.load(file))
