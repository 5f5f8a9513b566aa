# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The contraction of section 6.1 with 0 to 3 changes (samples/more/contraction.cu), all extents 16."""

import os

from trimtab import ROOT

SOURCE = os.path.join(ROOT, "samples", "more", "contraction.cu")
MEMORY = ("l1", "l2", "dram")
UNITS = {"GM": MEMORY, "SFU": ("special_function",), "SM": ("shared",), "INT": ("integer",), "DP": ("fp64",)}
MODES = {"LAT": "latency", "THR": "throughput"}


def emulated(trimtab, changes, device, *flags):
    program = trimtab.object(SOURCE, f"contraction{changes}.o", f"-DCHANGES={changes}")
    return trimtab.launch("emulate", program, "contraction", device, (64, 64), (16, 16),
                          {name: 16 for name in ("h1", "h2", "h3", "h7", "p4", "p5", "p6")}, *flags)


def gflops(answer, extent=16):
    return 2 * extent ** 7 / answer["ns"]


def sensitivity(answer, label):
    """Per cent of the paper's label ("GM LAT"); global memory is l1, l2 and dram together."""
    unit, mode = label.split()
    return 100 * sum(one["sensitivity"] for one in answer["sensitivity"] if one["resource"] in UNITS[unit] and one["mode"] == MODES[mode])


def rows(trimtab, device, speeds, sensitivities, why_speed, why_sensitivity, row):
    """Speeds of the four versions, then each one's sensitivities (`sensitivities`: label -> four numbers)."""
    answers = [emulated(trimtab, changes, device) for changes in range(4)]
    names = ("original", "change 1", "change 2", "change 3")
    result = [row(f"{name}, speed", speed, gflops(one), "GFLOP/s", why=why_speed.get(name, "")) for name, speed, one in zip(names, speeds, answers)]
    for index, name in enumerate(names):
        for label, numbers in sensitivities.items():
            result.append(row(f"{name}, {label}", numbers[index], sensitivity(answers[index], label), "%",
                              why=why_sensitivity.get((name, label), "")))
    return result
