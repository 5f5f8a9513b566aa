# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import statistics

from _fmm import CHOICES, every, name_of, timed
from item import Item, Row


def run(trimtab):
    rows, gaps = [], []
    for macros in every():
        if macros["SHMEM"] or macros["PREF"]:
            continue
        before, after = timed(trimtab, macros), timed(trimtab, macros | {"SHMEM": CHOICES["SHMEM"]["shmem"]})
        terms = before.equations
        benefit = 100 * (1 - after.emulated / before.emulated)
        promised = 100 * terms["B_itilp"] / terms["T_exec"]
        by_equations = 100 * (1 - after.equations["T_exec"] / terms["T_exec"])
        gaps.append(abs(benefit - promised))
        rows.append(Row(f"{name_of(macros)}: time that shmem takes off, by emulation (the equations: {by_equations:.0f} %, "
                        f"B_itilp {promised:.0f} %, B_memlp {100 * terms['B_memlp'] / terms['T_exec']:.0f} %)", None, benefit, "%"))
    rows.append(Row("mean gap between the emulated benefit and B_itilp", None, statistics.fmean(gaps), "%",
                    says="close but for tight"))
    return Item("Figure 11: benefit of shared memory on top of other optimisations", rows, [
        "The plot has no numbers. The text: B_itilp predicts the benefit, because B_memlp is 0."])
