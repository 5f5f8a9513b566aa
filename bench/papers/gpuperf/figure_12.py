# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _fmm import BENEFITS, macros_of, timed
from item import Item, Row

ORDER = ("vecpack", "rsqrt", "shmem", "ujam", "pref")
BASE = {"B_serial": 0, "B_memlp": 0, "B_itilp": 6068, "B_fp": 9691}  # cycles or so, without the time


def run(trimtab):
    base, rows, before, last = timed(trimtab, macros_of()), [], None, {}
    for count in range(len(ORDER) + 1):
        one = timed(trimtab, macros_of(*ORDER[:count]))
        terms = {name: 100 * one.equations[name] / base.equations["T_exec"] for name in BENEFITS}
        name = f"+ {ORDER[count - 1]}" if count else "baseline"
        rows += [Row(f"{name}: speedup over the baseline, by emulation", None, base.emulated / one.emulated, "times"),
                 Row(f"{name}: speedup by the equations", None, base.equations["T_exec"] / one.equations["T_exec"], "times"),
                 Row(f"{name}: B_fp left, of the baseline's time ({', '.join(f'{key} {value:.0f} %' for key, value in terms.items() if key != 'B_fp')})",
                     None, terms["B_fp"], "%")]
        if ORDER[count - 1:count] == ("pref",):
            rows.append(Row("time that pref adds at the end, by emulation", 1.0, one.emulated / before.emulated, "times",
                            says="no improvement"))
            rows.append(Row("B_fp with pref over that without", None, terms["B_fp"] / last["B_fp"], "times", says="slightly more"))
        before, last = one, terms
    first = base.equations
    rows.append(Row("baseline: B_itilp over B_fp", BASE["B_itilp"] / BASE["B_fp"], first["B_itilp"] / first["B_fp"], "times",
                    why="" if first["B_itilp"] else "by equation (4) our 32 resident warps hide all latency, whatever the ILP is; those of the paper's baseline cannot"))
    rows.append(Row("baseline: B_memlp over B_fp", 0.0, first["B_memlp"] / first["B_fp"], "times", says="0",
                    why="equation (17) leaves the N-th part of the time open, N warps; the paper says 0"))
    return Item("Figure 12: an FMM's near field, one optimisation after the other", rows, [
        "The plot has no numbers; the text has the baseline's potential benefits."])
