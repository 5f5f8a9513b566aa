# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The micro-benchmark of section 6.1 on a Tesla C2050: a block on each of its 14 SMs."""

import os

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "parallelism.cu")
SMS, TURNS = 14, 256
WARPS = (1, 4, 8, 10, 12, 14, 16, 18, 20, 24, 32)
SATURATED = 0.95  # of the most
FIGURE_6 = {1: 18, 2: 10, 3: 8}  # warps at which it becomes stable, by ILP


def ask(trimtab, command, chains, special, warps, *flags):
    program = trimtab.object(SOURCE, f"chains{chains}_{special}.o", f"-DCHAINS={chains}", f"-DSPECIAL={special}")
    return trimtab.launch(command, program, "chains", "c2050", (SMS,), (32 * warps,), {"factor": 0.5, "term": 1, "turns": TURNS}, *flags)


def saturation(performance):
    """The fewest warps with nearly the most performance."""
    most = max(performance.values())
    return min(warps for warps, one in performance.items() if one >= SATURATED * most)
