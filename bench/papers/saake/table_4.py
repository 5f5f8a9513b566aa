# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _contraction import rows
from item import Item, Row

# Totals of the four parts of table 4.
SPEEDS = (92, 123, 139, 161)
SENSITIVITIES = {"GM LAT": (3, 38, 41, 11), "SFU LAT": (16, 19, 0, 0), "GM THR": (58, 22, 31, 59), "SM THR": (7, 8, 9, 11)}
FAST = ("too fast, and why is not known. The emulated code is the PTX's (ptxas makes none for sm_35 here), and the paper prints "
        "measured speeds, not its own predictions")
SHARED = "shared memory is busier in ours, and why is not known: the paper prints neither its slabs nor its inner loop"


def run(trimtab):
    return Item("Table 4: the contraction on Kepler (K20c), version by version", rows(
        trimtab, "k20c", SPEEDS, SENSITIVITIES, {name: FAST for name in ("change 1", "change 3")},
        {("change 3", "SM THR"): SHARED}, Row), [
        "`samples/more/contraction.cu` has the paper's changes, written anew. Sensitivities are shares of the time. On PTX a division "
        "is a sequence of instructions, whose latency is spread over its units: the special function unit's own is near 0."])
