# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The matrix product of section 2.1, 2048 x 2048, on a K20c."""

import os

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "product.cu")
N = 2048


def emulated(trimtab, block, coarse, *flags):
    program = trimtab.object(SOURCE, f"product{block}_{coarse}.o", f"-DBLOCK={block}", f"-DCOARSE={coarse}")
    return trimtab.launch("emulate", program, "product", "k20c", (N // block, N // coarse), (block,), {"p": N, "pitch": N}, *flags)


def coarsened(trimtab, block, factor, *flags):
    """A product without shared memory, by a body that trimtab++ makes for `factor` results per thread."""
    program = trimtab.object(os.path.join(os.path.dirname(SOURCE), "plain_product.cu"), "plain_product.o", "--trimtab-coarsen=2,4,8,16")
    kernel = "_Z13plain_productPfPKfS1_ii" + (f"${factor}y${factor}" if factor > 1 else "")
    return trimtab.launch("emulate", program, kernel, "k20c", (N // block, N // factor), (block, 1), {"p": N, "pitch": N}, *flags)


def limit(answer):
    """"dram throughput" of the largest sensitivity."""
    first = answer["sensitivity"][0]
    return f"{first['resource']} {first['mode']}"
