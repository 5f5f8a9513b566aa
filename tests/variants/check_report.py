# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_report.py REPORT first|second|suggested: what became of the launches of variants.cu, in the first run, in one that remembers
the first's choices, and with annotations that were suggested: they may describe launches that the source's do not."""

import json
import sys

lines = [json.loads(line) for line in open(sys.argv[1])]


def of(kernel, n, blocks=None):
    found = [line for line in lines if kernel in line["kernel"] and line["data"]["n"] == n]
    return [line for line in found if blocks is None or line["written"]["grid"][0] == blocks]


# Of 50 000 numbers, blocks of two warps keep an SM's places for blocks, and not its warps.
for line in of("reduceILi64E", 50000, 782):
    assert "reduceILi64E" not in line["chosen"]["kernel"], line
    block, grid = line["chosen"]["block"][0], line["chosen"]["grid"][0]
    assert f"reduceILi{block}E" in line["chosen"]["kernel"] and grid == -(-50000 // block), line
    assert line["predicted_ns"]["chosen"] < line["predicted_ns"]["written"], line
    assert line["by"] == ("remembered" if sys.argv[2] == "second" or line["remembered"] else "annotated"), line
assert len(of("reduceILi64E", 50000, 782)) == 3, lines  # the launch, the graph's, the extensible one
for n, blocks in ((5000, 82), (50000, 785)):
    (line,) = of("reduceILi64E", n, blocks)
    if sys.argv[2] == "suggested":
        continue
    assert line["by"] == "unchanged" and "annotation states a grid" in line["reason"], line
    assert line["chosen"] == line["written"], line
for line in lines:
    assert line["chosen"].get("kernel") != line["kernel"], line
assert len(of("product", 40)) == 1 and len(of("product", 130)) == 1, lines
