# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _parallelism import ask
from item import Item, Row

CHAINS, WARPS, COUNTS = 1, 32, (0, 1, 2, 4, 8)


def run(trimtab):
    emulated = {count: ask(trimtab, "emulate", CHAINS, count, WARPS, "--no-sensitivity")["ns"] for count in COUNTS}
    model = {count: ask(trimtab, "predict", CHAINS, count, WARPS)["gpuperf_ns"] for count in COUNTS}
    rows = [Row("emulated time with 1 special function per 8 multiply-adds over that with none", 1.0, emulated[1] / emulated[0], "times",
                better="lower", says="almost hidden",
                why="" if emulated[1] <= 1.25 * emulated[0] else "a special function takes its unit 8 cycles, as long as eight multiply-adds take theirs")]
    rows += [Row(f"emulated time with {count} over that with none", None, emulated[count] / emulated[0], "times",
                 says="a significant part of the time") for count in COUNTS[2:]]
    rows += [Row(f"the equations' time with {count} over that with none", None, model[count]["T_exec"] / model[0]["T_exec"], "times") for count in COUNTS[1:]]
    rows += [Row(f"the equations' B_serial over T_exec with {count}", None, 100 * model[count]["B_serial"] / model[count]["T_exec"], "%") for count in COUNTS]
    return Item("Figure 8: special functions per eight multiply-adds on a C2050", rows, [
        f"{WARPS} warps per SM. The figure has no numbers."])
