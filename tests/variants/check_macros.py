# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_macros.py REPORT: what became of the launches of macros.cu, with BLOCK=64 and TILE=8 as written."""

import json
import sys

lines = [json.loads(line) for line in open(sys.argv[1])]


def of(kernel, n, blocks=None):
    found = [line for line in lines if line["kernel"] == kernel and line["data"]["n"] == n]
    return [line for line in found if blocks is None or line["written"]["grid"][0] == blocks]


# Of 50 000 numbers, blocks of two warps keep an SM's places for blocks, and not its warps.
for line in of("_Z6reducePKiPii", 50000, 782):
    block, grid = line["chosen"]["block"][0], line["chosen"]["grid"][0]
    assert block > 64 and grid == -(-50000 // block), line
    assert line["chosen"]["kernel"] == f"_Z6reducePKiPii$BLOCK${block}", line
    assert line["predicted_ns"]["chosen"] < line["predicted_ns"]["written"], line
assert len(of("_Z6reducePKiPii", 50000, 782)) == 2, lines  # the launch, the graph's
for n, blocks in ((5000, 82), (50000, 785)):
    (line,) = of("_Z6reducePKiPii", n, blocks)
    if len(sys.argv) > 2:
        continue  # what was suggested may describe it
    assert line["by"] == "unchanged" and "annotation states a grid" in line["reason"], line
    assert line["chosen"] == line["written"], line
(line,) = of("transposed", 515)
tile = line["chosen"]["block"]
assert tile == [16, 16, 1] and line["chosen"]["grid"] == [33, 33, 1], line
assert line["chosen"]["kernel"] == "transposed$TILE$16", line
for line in of("_Z6scaledPi6Boundsi", 515):
    assert "kernel" not in line["chosen"], line
