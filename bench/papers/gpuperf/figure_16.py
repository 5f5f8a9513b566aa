# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _parboil import ask
from item import Item, Row

BENEFITS = ("B_fp", "B_itilp", "B_memlp", "B_serial")
SAYS = {("cutcp", 1): "little is left", ("tpacf", 0): "high", ("tpacf", 1): "high"}


def run(trimtab):
    rows = []
    for name in ("cutcp", "tpacf"):
        terms = [ask(trimtab, "predict", name, step)["gpuperf_ns"] for step in (0, 1)]
        for step, when in enumerate(("baseline", "optimised")):
            for benefit in BENEFITS:
                is_none = name == "tpacf" and benefit == "B_memlp"
                rows.append(Row(f"{name}, {when}: {benefit} over the baseline's T_exec", 0.0 if is_none else None,
                                100 * terms[step][benefit] / terms[0]["T_exec"], "%",
                                says="0" if is_none else SAYS.get((name, step), "") if benefit == ("B_fp" if name == "cutcp" else "B_itilp") else ""))
    return Item("Figure 16: potential benefits of cutcp and tpacf", rows, [
        "The plot has no numbers. The paper finds B_itilp high in both versions of tpacf. In ours it is 0: by equation (4) the resident "
        "warps, 16 at least, times the ILP that Trimtab counts in PTX hide all latency."])
