# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _reductions import BLOCKS, ask
from item import Item, Row

MEMORY = ("l1", "l2", "dram")


def run(trimtab):
    rows, terms = [], {kind: ask(trimtab, "predict", kind)["gpuperf_ns"] for kind in BLOCKS}
    for kind, one in terms.items():
        rows.append(Row(f"K{kind}: B_memlp over T_exec", 0.0 if kind < 6 else None, 100 * one["B_memlp"] / one["T_exec"], "%",
                        says="0" if kind < 6 else "memory-bound", why="" if kind < 6 else "the paper puts K6 in the memory-bound zone"))
        rows.append(Row(f"K{kind}: B_itilp over T_exec", 0.0 if kind < 6 else None, 100 * one["B_itilp"] / one["T_exec"], "%", says="0" if kind < 6 else ""))
        rows.append(Row(f"K{kind}: B_serial over T_exec", None, 100 * one["B_serial"] / one["T_exec"], "%",
                        says="benefits come mainly from computation" if kind < 6 else "",
                        why="O_sync, see figure 13" if one["B_serial"] > 0.5 * one["T_exec"] else ""))
        rows.append(Row(f"K{kind}: B_fp over T_exec", None, 100 * one["B_fp"] / one["T_exec"], "%"))
    falls = sum(terms[kind]["B_fp"] > terms[kind + 1]["B_fp"] for kind in range(6))
    rows.append(Row("steps from K0 to K6 that leave less B_fp", 6.0, falls, "of 6", better="higher",
                    says="the benefits come from fewer instructions"))
    rows.append(Row("K0 to K5: least B_fp over B_serial", None, min(terms[kind]["B_fp"] / terms[kind]["B_serial"] for kind in range(6)), "times",
                    says="more from computation than from serialisation"))
    for kind in BLOCKS:
        used = ask(trimtab, "emulate", kind, "--no-sensitivity")
        shares = {name: value["utilisation"] for name, value in used["resources"].items()} | {"issue": used["issue_utilisation"]}
        first = max(shares, key=shares.get)
        rows.append(Row(f"K{kind}: busiest of the emulation is {first}", None, 100 * shares[first], "%",
                        says="compute-bound" if kind < 6 else "memory-bound"))
    return Item("Figure 14: benefits of the sums K0 to K6", rows, [
        "Terms of the paper's equations, as used here (figure 13), as `trimtab predict` prints them, then what abstract emulation finds busiest."])
