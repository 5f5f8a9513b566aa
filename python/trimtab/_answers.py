# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the questions are answered with. `json` is all that the program printed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Block = tuple[int, int, int]


def block_of(json: dict[str, Any]) -> Block:
    return json["bx"], json["by"], json["bz"]


@dataclass(frozen=True)
class Kernel:
    """A kernel, and what was proved of it."""
    name: str            # demangled
    mangled: str
    source: str          # "gemm.cu:7"; may be empty
    verdict: str         # covering, dividing, annotated, fixed
    data: tuple[str, ...]  # the values that set a launch's work
    reasons: tuple[str, ...]  # what stands in the way of other blocks
    json: dict[str, Any] = field(repr=False)

    @property
    def may_change(self) -> bool:
        return self.verdict != "fixed"


@dataclass(frozen=True)
class Candidate:
    block: Block
    time_ns: float       # predicted
    metrics: dict[str, float] = field(repr=False)


@dataclass(frozen=True)
class Choice:
    """The block that a launch gets, before those that were found next best."""
    kernel: str
    device: str
    block: Block
    time_ns: float
    ranking: tuple[Candidate, ...] = field(repr=False)
    json: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Prediction:
    """One launch's time by the model."""
    kernel: str
    device: str
    time_ns: float
    occupancy: float     # of the SM's warps, 0 to 1
    json: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Emulation:
    """One launch's time, warp by warp."""
    kernel: str
    device: str
    time_ns: float
    cycles: float
    json: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Pruned:
    """The work-group size (the block) that was found for a launch without a profile."""
    kernel: str
    device: str
    block: Block
    time_ns: float
    ranking: tuple[tuple[Block, float], ...] = field(repr=False)  # sizes that were simulated, and their times in ns
    json: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Finding:
    rule: str
    text: str            # what is seen, and at which line
    remedy: str          # what to do about it
    gain: float          # how many times as fast the kernel would be, by the model
    json: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Advice:
    """What holds kernels back, and what mending it would win."""
    device: str
    total_ns: float
    findings: tuple[Finding, ...]
    json: dict[str, Any] = field(repr=False)
