# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel of the thesis, step by step: time, gain and bottleneck beside what Trimtab emulates and advises."""

import dataclasses
import json
import os

from item import Row
from trimtab import device_file

HERE = os.path.dirname(os.path.abspath(__file__))
DRAM_WITH_ECC = 115e9  # p. 72; the description of the C2050 has DRAM without


@dataclasses.dataclass
class Step:
    """A kernel as it is after `name`. `next` is what the thesis did then, `rules` are the rules of `trimtab advise` that would name
    it."""
    name: str
    flags: tuple
    grid: tuple
    block: tuple
    us: float
    label: str
    next: str = ""
    rules: tuple = ()
    why: dict = dataclasses.field(default_factory=dict)  # of "time", "gain" and "advice"


def device(trimtab, name):
    if name != "c2050":
        return name
    path = os.path.join(trimtab.folder.name, "c2050_ecc.json")
    if not os.path.exists(path):
        with open(device_file(name)) as file:
            description = json.load(file)
        description["values"]["dram_bytes_per_s"]["value"] = DRAM_WITH_ECC
        with open(path, "w") as file:
            json.dump(description, file)
    return path


def ask(trimtab, command, gpu, source, step, arguments, *flags):
    program = trimtab.object(os.path.join(HERE, source + ".cu"), f"{source}_{'_'.join(step.flags)}.o", *step.flags)
    return trimtab.launch(command, program, source, device(trimtab, gpu), step.grid, step.block, arguments, *flags)


def rows(trimtab, title, gpu, source, steps, arguments, timed=True):
    """`timed`: the amount of work is known, so that times compare, and not only gains."""
    result, ns = [], []
    for step in steps:
        answer = ask(trimtab, "emulate", gpu, source, step, arguments, "--no-sensitivity")
        ns.append(answer["ns"])
        uses = {name: one["utilisation"] for name, one in answer["resources"].items()} | {"issue": answer["issue_utilisation"]}
        busiest = max(uses, key=uses.get)
        result.append(Row(f"{title}, {step.name}: time; {answer['registers']:.0f} registers, occupancy "
                          f"{100 * answer['occupancy']['fraction']:.0f} %, busiest {busiest} {100 * uses[busiest]:.0f} %",
                          step.us if timed else None, answer["ns"] / 1e3, "us", says="" if timed else f"{step.us} us",
                          why=step.why.get("time", "")))
    for index, step in enumerate(steps):
        advice = ask(trimtab, "advise", gpu, source, step, arguments)["kernels"][0]
        limiter = advice["label"]["limiter"]
        used = {one["name"]: one["used"] for one in advice["rooflines"]}
        result.append(Row(f"{title}, {step.name}: `advise` says {advice['label']['bound']}; the most used roof is "
                          f"{limiter or max(used, key=used.get)}", None, 100 * max(used.values()), "%", says=step.label))
        if not step.next:
            continue
        named = [one for one in advice["findings"] if one["rule"] in step.rules]
        others = ", ".join(f"{one['rule']} {one['gain']:.2f}x" for one in advice["findings"]) or "none"
        measured = step.us / steps[index + 1].us
        result.append(Row(f"{title}, {step.name} -> {steps[index + 1].name} ({step.next}): gain by emulation", measured,
                          ns[index] / ns[index + 1], "times", why=step.why.get("gain", "")))
        result.append(Row(f"{title}, {step.name} -> {steps[index + 1].name}: gain that `advise` promises for it (findings: {others})",
                          measured, max((one["gain"] for one in named), default=None), "times", why=step.why.get("advice", "")))
    return result
