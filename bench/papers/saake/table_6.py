# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _contractions import AFTER, BEFORE, emulated
from item import Item, Row

VERSIONS = {"original": (BEFORE, 1), "Kepler's version": (AFTER, 1), "Pascal's version": (AFTER, 0)}
PAPER = {"k20c": ("Kepler (K20c)", (92, 161, 49)), "titanx-pascal": ("Pascal (Titan X)", (166, 219, 250))}
WHY = {("k20c", "Kepler's version"): "too fast, and why is not known, as in table 4",
       ("k20c", "original"): "ours maps x to the fastest index of v, so that results are scattered",
       ("k20c", "Pascal's version"): "another version: the paper says only that it reads global memory in place of shared memory"}


def run(trimtab):
    rows = []
    for gpu, (title, speeds) in PAPER.items():
        ours = {name: emulated(trimtab, gpu, "d1_6", changes, shared=shared) for name, (changes, shared) in VERSIONS.items()}
        rows += [Row(f"{title}, {name}", paper, ours[name], "GFLOP/s", why=WHY.get((gpu, name), "") if abs(ours[name] / paper - 1) > 0.25 else "")
                 for name, paper in zip(ours, speeds)]
    return Item("Table 6: each GPU's version of sd_t_d1_6 on the other", rows, [
        "*Kepler's version* has table 4's three changes. Of Pascal's the paper says that shared memory gave way to global memory; ours is "
        "Kepler's version without shared memory."])
