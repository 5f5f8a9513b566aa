# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _reductions import BLOCKS, ask
from item import Item, Row


def run(trimtab):
    emulated = {kind: ask(trimtab, "emulate", kind, "--no-sensitivity")["ns"] / 1e6 for kind in BLOCKS}
    predicted = {kind: ask(trimtab, "predict", kind) for kind in BLOCKS}
    rows = [Row(f"K{kind}, emulated", None, emulated[kind], "ms") for kind in BLOCKS]
    rows += [Row(f"K{kind}, closed form", None, predicted[kind]["ns"] / 1e6, "ms") for kind in BLOCKS]
    executed = {kind: predicted[kind]["gpuperf_ns"]["T_exec"] / 1e6 for kind in BLOCKS}
    rows += [Row(f"K{kind}, the paper's equations, as used here (T_exec)", None, executed[kind], "ms") for kind in BLOCKS]
    falls = sum(emulated[kind] >= emulated[kind + 1] for kind in range(6))
    rows.append(Row("steps from K0 to K6 that make the emulated time shorter", 6.0, falls, "of 6", better="higher",
                    says="each optimisation pays"))
    rows.append(Row("steps from K0 to K6 that make T_exec shorter", 6.0, sum(executed[kind] >= executed[kind + 1] for kind in range(6)), "of 6",
                    better="higher", says="each optimisation pays"))
    apart = max(max(executed[kind] / emulated[kind], emulated[kind] / executed[kind]) for kind in BLOCKS)
    rows.append(Row("K0 to K6: most that T_exec and the emulated time are apart", 1.0, apart, "times", better="lower",
                    says="the model closely estimates the measured time", why="O_sync: Gamma is one number for all kernels of a GPU"))
    return Item("Figure 13: sums K0 to K6 on a C2050", rows, [
        "2^24 integers, blocks of 512. The figure has no numbers. The equations are those of docs/model.md, \"GPUPerf's terms\". As they are printed, "
        "O_sync is charged to each warp of a barrier; T_exec was then 70, 93, 112, 99, 59, 78 and 1.1 ms."])
