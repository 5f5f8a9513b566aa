# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The seven sums of section 6.3, 2^24 integers on a C2050."""

import os

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "reductions.cu")
N, BLOCK = 1 << 24, 512
BLOCKS = {**{kind: N // BLOCK for kind in range(3)}, **{kind: N // BLOCK // 2 for kind in range(3, 6)}, 6: 64}


def ask(trimtab, command, kind, *flags):
    program = trimtab.object(SOURCE, f"reduce{kind}.o", f"-DKIND={kind}", f"-DBLOCK={BLOCK}")
    return trimtab.launch(command, program, "reduce", "c2050", (BLOCKS[kind],), (BLOCK,), {"n": N}, *flags)
