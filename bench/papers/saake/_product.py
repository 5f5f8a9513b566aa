# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The matrix product of section 2.1, 2048 x 2048, on a K20c."""

import os

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "product.cu")
N = 2048


def emulated(trimtab, block, coarse, *flags):
    program = trimtab.object(SOURCE, f"product{block}_{coarse}.o", f"-DBLOCK={block}", f"-DCOARSE={coarse}")
    return trimtab.launch("emulate", program, "product", "k20c", (N // block, N // coarse), (block,), {"p": N, "pitch": N}, *flags)


def limit(answer):
    """"dram throughput" of the largest sensitivity."""
    first = answer["sensitivity"][0]
    return f"{first['resource']} {first['mode']}"
