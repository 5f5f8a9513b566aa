#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_report.py FILE: what TRIMTAB_REPORT says of annotated.cu's launches."""
import json
import sys
from collections import defaultdict


def ceil(a, b):
    return -(-a // b)


launches = defaultdict(list)
for line in open(sys.argv[1]):
    launch = json.loads(line)
    name = next(n for n in ("reduced", "turned", "Sample", "hungry") if n in launch["kernel"])
    launches[name].append(launch)

for name, grid_of in (
    ("reduced", lambda n, b: [ceil(n, 2 * b[0]), 1, 1]),
    ("turned", lambda n, b: [ceil(n, b[0]), ceil(n, b[1]), 1]),
    ("Sample", lambda n, b: [ceil(n, b[0]), ceil(n, b[1]), 1]),
    ("hungry", lambda n, b: [ceil(n, b[0]), 1, 1]),
):
    changed = 0
    for launch in launches[name]:
        written, chosen, n = launch["written"], launch["chosen"], launch["data"]["n"]
        if written["grid"] != grid_of(n, written["block"]):
            assert launch["by"] == "unchanged" and "states a grid of" in launch["reason"], launch
            continue
        if launch["by"] == "unchanged":
            assert chosen == written, launch
            continue
        assert launch["by"] == "annotated", launch
        block = chosen["block"]
        assert chosen["grid"] == grid_of(n, block), launch
        changed += block != written["block"]
        if name == "reduced":
            assert 64 <= block[0] <= 512 and block[0] & (block[0] - 1) == 0 and block[1:] == [1, 1], launch
        elif name == "turned":
            assert block[0] == block[1] and block[0] % 8 == 0, launch
        elif name == "Sample":
            assert block[0] < block[1] ** 2, launch
        else:  # 48 KiB, or the 64 KiB that the program asked for
            assert block[0] <= (256 if n > 4096 else 192), launch
    print(name, [(l["by"], l["chosen"]["block"]) for l in launches[name]])
    assert changed, f"{name} keeps its block at every size"
unchanged = [l["reason"] for l in launches["reduced"] if l["by"] == "unchanged"]
for words in ("states a grid of", "bytes of dynamic shared memory", "rules out the block as written"):
    assert sum(words in reason for reason in unchanged) == 2, (words, unchanged)
