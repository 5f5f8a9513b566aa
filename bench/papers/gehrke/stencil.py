# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _steps import Step, rows
from item import Item

ARGUMENTS = {"nx": 512, "ny": 512, "nz": 64}
GPUS = {"c2050": ("Fermi", 3106, 2150, "memory-bound, DRAM 76 %", "memory-bound, DRAM 97 %"),
        "gtx960": ("Maxwell", 2970, 2160, "memory-bound, DRAM 78 %", "between memory and instructions, DRAM 64 %")}
WHY = {"c2050": "ours moves fewer bytes: 150 MB of DRAM, and the thesis's rate times its time is 240 MB; both arrays are 134 MB",
       "gtx960": "the thesis's counters make 1.9e9 instructions of threads and DRAM 64 % busy; ours are 0.74e9, and DRAM is the limit"}


def steps(gpu):
    _, base, tiled, label, then = GPUS[gpu]
    return [Step("base", ("-DSTEP=0",), (1, 510, 62), (512,), base, label, "coarsening along z, tiles", ("reuse",), why={"gain": "see the tiled time"}),
            Step("tiled", ("-DSTEP=1",), (8, 128), (32, 4), tiled, then, why={"time": WHY[gpu]})]


def run(trimtab):
    return Item("Tables 6.4, 6.5, 6.14 and 6.15: the stencil of seven points", [
        row for gpu in GPUS for row in rows(trimtab, GPUS[gpu][0], gpu, "stencil", steps(gpu), ARGUMENTS)], [
        "512 x 512 x 64 floats. The thesis's Fermi has ECC, hence DRAM of 115 GB/s. Run on 29 November 2026."])
