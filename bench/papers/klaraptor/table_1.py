# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import csv
import os

from _cases import cases, efficiency, size
from item import Item, Row

HERE = os.path.dirname(os.path.abspath(__file__))


def printed():
    with open(os.path.join(HERE, "table_1.csv")) as file:
        return list(csv.DictReader(file))


def by_kernel(names):
    """kernel and program -> the sizes, of names like "mvt_kernel1 of MVT, N = 4096"."""
    sizes = {}
    for name in names:
        kernel, _, n = name.partition(", N = ")
        sizes.setdefault(kernel, []).append(n)
    return sizes


def run(trimtab):
    measured, rows, absent = cases(trimtab), [], []
    for line in printed():
        name = f"{line['kernel']} of {line['app']}, N = {line['n']}"
        case = measured.get(("gtx1080ti", line["app"], line["kernel"], int(line["n"])))
        if case is None:
            absent.append(name)
            continue
        of_paper = float(line["best_ms"]) / float(line["chosen_ms"])
        ours = efficiency(case, "trimtab")
        rows.append(Row(f"{name}: {line['chosen_x']} x {line['chosen_y']} of best {line['best_x']} x {line['best_y']}; ours "
                        f"{size(case['choices']['trimtab'])} of best {size(case['best'])}", of_paper, ours, better="higher",
                        why="" if ours >= 0.75 * of_paper else
                        "the paper's chosen block beats its best one, which no choice can do here" if of_paper > 1 else
                        f"the best block takes {1e3 * case['best']['ms']:.0f} us: single readings"))
    return Item("Table I: the chosen block beside the best one, GTX 1080 Ti", rows, [
        "Speed of the chosen block as a share of the best block's. The paper's is its best time over its chosen time. Ours is "
        "the same in the sweeps that were published with it, which are another day's times, one reading each. Kernels that read "
        "only x have only blocks with one row here, because more rows repeat the same work and race.",
        f"{len(rows)} of the table's 60 rows are here. The published sweep has no times of the others:",
        *(f"- {kernel}, N = {' and '.join(sizes)}" for kernel, sizes in by_kernel(absent).items())])
