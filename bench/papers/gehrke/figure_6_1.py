# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import rk4
import sgemm
import stencil
from _steps import ask
from item import Item, Row

# Instructions per byte of DRAM, per cent of peak of DRAM and of instructions; tables 6.2 to 6.10.
CASES = {"sgemm": ("SGEMM", sgemm.steps("c2050"), sgemm.ARGUMENTS, ((28, 14, 58), (10.93, 27, 67))),
         "stencil": ("stencil", stencil.steps("c2050"), stencil.ARGUMENTS, ((3.71, 76, 55), (3.38, 97, 72))),
         "rk4": ("RK4", rk4.FERMI, rk4.ARGUMENTS, ((0.65, 88, 11), (0.64, 88, 11), (1.1, 83, 19), (1.25, 83, 20), (1.51, 80, 24)))}
FEWER = "the closed form counts 165 to 172 MB of DRAM; the thesis's rate times its time is 272 and 240 MB, and abstract emulation has 265 and 150"
LOCAL = "another system of equations: the thesis's kernel spills, and reads its arrays from local memory to the end; ours has none left"
# Of the intensity, then of the share.
WHY = {"sgemm": (("", "the thesis's ratio times its DRAM rate makes 87 % of peak; what is executed again (32 %) is not in its 58 %"), ("", "")),
       "stencil": ((FEWER, ""), (FEWER, "the closed form has fewer bytes in more time; DRAM is 100 % busy in abstract emulation")),
       "rk4": (("", ""), ("our rates are read side by side then, the thesis's are not", ""), ("as above", ""), (LOCAL, ""), (LOCAL, ""))}


def run(trimtab):
    rows = []
    for source, (title, steps, arguments, points) in CASES.items():
        for step, (intensity, dram, issue), (why, why_share) in zip(steps, points, WHY[source]):
            advice = ask(trimtab, "advise", "c2050", source, step, arguments)["kernels"][0]
            used = {one["name"]: 100 * one["used"] for one in advice["rooflines"]}
            rows.append(Row(f"{title}, {step.name}: instructions per byte of DRAM", intensity,
                            advice["derived"]["instructions_per_byte_dram"], why=why))
            rows.append(Row(f"{title}, {step.name}: share of the nearest roof, of DRAM or instructions", max(dram, issue),
                            max(used["dram"], used["issue"]), "%", why=why_share))
    return Item("Figure 6.1: the kernels under the roofs of the C2050 with ECC", rows, [
        "The figure's points have no numbers; these are from tables 6.2 to 6.10. Ours are from `trimtab advise`, whose closed form "
        "counts them. The roofs themselves are in table 5.6."])
