# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _product import coarsened, emulated, limit
from item import Item, Row

FACTORS = (1, 2, 4, 8, 16)


def run(trimtab):
    answers = {factor: emulated(trimtab, 128, factor) for factor in FACTORS}
    time = {factor: one["ns"] for factor, one in answers.items()}
    rows = [Row(f"time, {factor} results per thread; {one['registers']:.0f} registers, occupancy {100 * one['occupancy']['fraction']:.0f} %, "
                f"limited by {limit(one)}", None, one["ns"] / 1e6, "ms") for factor, one in answers.items()]
    rows += [Row("time of 1 over that of 2 results", 2.0, time[1] / time[2], says="proportional: 2",
                 why="" if abs(time[1] / time[2] / 2 - 1) <= 0.25 else "something else than DRAM's bytes limits the emulated kernel"),
             Row("time of 2 over that of 4 results", None, time[2] / time[4], says="improves until 4"),
             Row("time of 4 over that of 8 results", 1.0, time[4] / time[8], says="beyond 4 no further improvement", better="lower",
                 why="registers lower occupancy from 8 results on, as the paper says, but the emulated warps that remain still "
                     "keep the load/store units busy, so that fewer bytes pay")]
    own = {factor: coarsened(trimtab, 128, factor) for factor in FACTORS}
    rows += [Row(f"time without shared memory, coarsened by trimtab++, {factor} results per thread; {one['registers']:.0f} registers, "
                 f"occupancy {100 * one['occupancy']['fraction']:.0f} %, limited by {limit(one)}", None, one["ns"] / 1e6, "ms")
             for factor, one in own.items()]
    return Item("Figure 2: coarsening the matrix product on a K20c", rows, [
        "Blocks of 128, 1 to 16 results per thread. The plot has no numbers. The text: halving DRAM's transactions halves the "
        "time; time improves until 4; beyond that registers lower occupancy, and latency limits.",
        "The last rows are of a product without shared memory whose threads have one result each in the source: "
        "`--trimtab-coarsen=2,4,8,16` makes the other bodies."])
