# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _reductions import BLOCKS, ask
from item import Item, Row


def run(trimtab):
    emulated = {kind: ask(trimtab, "emulate", kind, "--no-sensitivity")["ns"] / 1e6 for kind in BLOCKS}
    predicted = {kind: ask(trimtab, "predict", kind) for kind in BLOCKS}
    rows = [Row(f"K{kind}, emulated", None, emulated[kind], "ms") for kind in BLOCKS]
    rows += [Row(f"K{kind}, closed form", None, predicted[kind]["ns"] / 1e6, "ms") for kind in BLOCKS]
    rows += [Row(f"K{kind}, the paper's equations (T_exec)", None, predicted[kind]["gpuperf_ns"]["T_exec"] / 1e6, "ms") for kind in BLOCKS]
    falls = sum(emulated[kind] >= emulated[kind + 1] for kind in range(6))
    rows.append(Row("steps from K0 to K6 that make the emulated time shorter", 6.0, falls, "of 6", better="higher",
                    says="each optimisation pays"))
    worst = max(predicted[kind]["gpuperf_ns"]["T_exec"] / 1e6 / emulated[kind] for kind in range(6))
    rows.append(Row("K0 to K5: most that T_exec is above the emulated time", 1.0, worst, "times", better="lower",
                    says="the model closely estimates the measured time", why="the equations as printed: O_sync (8) has Gamma = 64 and is charged to each warp "
                    "of a barrier, so that it is nearly all of T_exec; the paper's own figure cannot come from (7) and (8) as they are printed"))
    return Item("Figure 13: sums K0 to K6 on a C2050", rows, ["2^24 integers, blocks of 512. The figure has no numbers."])
