# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _steps import Step, rows
from item import Item

ARGUMENTS = {"k": 992, "lda": 1024, "ldb": 1056, "ldc": 1024}  # c is 1024 x 1056
GPUS = {"c2050": ("Fermi", 35960, 5420, "memory-bound at L2", "compute-bound"),
        "gtx960": ("Maxwell", 17674, 2866, "memory-bound at L2", "shared memory, close to instructions")}
WHY = {"gtx960": ({"time": "ours keeps its loop as it is, so that each load is waited for; unrolled by ptxas the same code takes 7 ms in emulation",
                   "advice": "see the base's time: its waits, all of which a tile with 16 sums hides"},
                  {"time": "ptxas makes 32 loads of 16 bytes of the tile's 128, and each takes the load/store units four cycles: in ours they are the limit"})}


def steps(gpu):
    _, base, tiled, label, then = GPUS[gpu]
    why = WHY.get(gpu, ({}, {}))
    return [Step("base", ("-DSTEP=0",), (64, 66), (16, 16), base, label, "tiles in shared memory, 16 results per thread", ("reuse",), why=why[0]),
            Step("tiled", ("-DSTEP=1",), (8, 66), (16, 8), tiled, then, why=why[1])]


def run(trimtab):
    return Item("Tables 6.2, 6.3, 6.11 to 6.13: SGEMM", [
        row for gpu in GPUS for row in rows(trimtab, GPUS[gpu][0], gpu, "sgemm", steps(gpu), ARGUMENTS)], [
        "1024 x 992 by 992 x 1056 floats. The thesis's Fermi has ECC, hence DRAM of 115 GB/s. Run on 29 November 2026."])
