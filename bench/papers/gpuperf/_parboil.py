# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The two applications of section 6.4 on a Tesla C2050, each before and after its optimisations."""

import functools
import os

HERE = os.path.dirname(os.path.abspath(__file__))
POINTS, BLOCK = 14336, 256
SIDE, ATOMS, CUTOFF2 = 128, 8 * 16 ** 3, 64.0  # a lattice of 128^3 points, half a unit apart, and 8 atoms per cube of 4
LATTICE = {"side": SIDE, "count": ATOMS, "spacing": 0.5, "cutoff2": CUTOFF2, "per_cutoff2": 1 / CUTOFF2}
TPACF = ((POINTS // BLOCK,), (BLOCK,), {"points": POINTS})
LAUNCHES = {("cutcp", 0): ((SIDE // 16, SIDE // 8, SIDE), (16, 8), LATTICE), ("cutcp", 1): ((SIDE // 8,) * 3, (8, 8, 2), LATTICE),
            ("tpacf", 0): TPACF, ("tpacf", 1): TPACF}


@functools.cache
def ask(trimtab, command, name, step):
    program = trimtab.object(os.path.join(HERE, name + ".cu"), f"{name}{step}.o", f"-DSTEP={step}", f"-DBLOCK={BLOCK}")
    grid, block, arguments = LAUNCHES[name, step]
    flags = ("--no-sensitivity",) if command == "emulate" else ()
    return trimtab.launch(command, program, name, "c2050", grid, block, arguments, *flags)
