# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _contraction import rows
from item import Item, Row

# Totals of the four parts of table 5. Its changes on Pascal are not described; ours are those of Kepler.
SPEEDS = (166, 190, 225, 250)
SENSITIVITIES = {"GM LAT": (9, 32, 21, 3), "GM THR": (48, 13, 14, 23), "INT THR": (6, 9, 12, 14), "DP THR": (32, 38, 46, 53)}
DOUBLES = ("doubles limit ours sooner: it executes fewer other instructions, and reads less, for each product; the paper's "
           "Pascal version is not described")


def run(trimtab):
    return Item("Table 5: the contraction on Pascal (Titan X), version by version", rows(
        trimtab, "titanx-pascal", SPEEDS, SENSITIVITIES, {},
        {(name, "DP THR"): DOUBLES for name in ("original", "change 1", "change 2", "change 3")}, Row), [
        "The paper does not say which changes it made on Pascal. Ours are those of table 4, in the same order."])
