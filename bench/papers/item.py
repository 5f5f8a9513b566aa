# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One table or figure of a paper, beside what Trimtab gives for it."""

import dataclasses
import math

FAR = 0.25  # a row that misses by more says why


@dataclasses.dataclass
class Row:
    """`paper` is None where the paper has a plot without numbers, or only a sentence (`says`). `better` is "higher" or
    "lower" for figures of merit: only a worse one is then a miss. `timed`: of this machine's clock, never compared."""
    what: str
    paper: float | None
    ours: float | None
    unit: str = ""
    why: str = ""
    says: str = ""
    better: str = "near"
    timed: bool = False

    def miss(self):
        """The share by which ours is off, above 0 if it is above the paper's; None if there is nothing to compare."""
        if self.paper is None or self.ours is None:
            return None
        if self.unit == "%" and self.better == "near":
            return (self.ours - self.paper) / 100  # shares of a whole: points
        return self.ours / self.paper - 1 if self.paper else math.inf if self.ours else 0.0

    def is_far(self):
        off = self.miss()
        if off is None:
            return False
        return {"higher": -off, "lower": off}.get(self.better, abs(off)) > FAR


@dataclasses.dataclass
class Item:
    title: str
    rows: list[Row]
    notes: list[str] = dataclasses.field(default_factory=list)

    def unexplained(self):
        return [row for row in self.rows if row.is_far() and not row.why]


def figure(value, unit=""):
    """Three digits, as tables show them."""
    if value is None:
        return ""
    if value and not 1e-3 <= abs(value) < 1e6:
        text = f"{value:.2e}"
    else:
        digits = 0 if value == 0 else max(0, 2 - math.floor(math.log10(abs(value))))
        text = f"{value:.{digits}f}"
        if "." in text:
            text = text.rstrip("0").rstrip(".")
    return f"{text} {unit}".strip()


def off(row):
    miss = row.miss()
    if miss is None:
        return ""
    if row.unit == "%" and row.better == "near":
        return f"{round(100 * miss):+d} points"
    if miss > 4:
        return f"{miss + 1:.2g} times"
    return f"{round(100 * miss):+d} %"


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(math.log(value) for value in values) / len(values)) if values else math.nan
