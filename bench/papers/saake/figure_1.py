# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _product import emulated, limit
from item import Item, Row

BLOCKS = (32, 64, 128, 256, 512, 1024)
OCCUPANCY = {128: 100.0}  # "For a thread block size of 128, an occupancy of 1 is achieved"


def run(trimtab):
    answers = {block: emulated(trimtab, block, 1) for block in BLOCKS}
    best = min(answers.values(), key=lambda one: one["ns"])["ns"]
    rows = [Row(f"occupancy, block of {block}", OCCUPANCY.get(block), 100 * one["occupancy"]["fraction"], "%") for block, one in answers.items()]
    rows += [Row(f"time, block of {block}; limited by {limit(one)}", None, one["ns"] / 1e6, "ms") for block, one in answers.items()]
    gain = answers[32]["ns"] / answers[128]["ns"]
    rows += [Row("time at 128 threads over the best of all", 1.0, answers[128]["ns"] / best, better="lower", says="the best"),
             Row("time at 32 threads over that at 128", None, gain, says="falls with occupancy until 128",
                 why="" if gain > 1.2 else "blocks of 32 already keep DRAM busy in the emulation, so that more warps gain nothing: see the limits above"),
             Row("time at 1024 threads over that at 128", 1.0, answers[1024]["ns"] / answers[128]["ns"], says="no further improvement")]
    return Item("Figure 1: blocks of a matrix product on a K20c", rows, [
        "2048 x 2048, blocks of one dimension, one result per thread. The plot has no numbers; the text says that time follows "
        "occupancy, and that global memory limits it, by latency below 128 threads and by bandwidth above."])
