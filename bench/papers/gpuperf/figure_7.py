# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _parallelism import FIGURE_6, WARPS, ask, saturation
from item import Item, Row


def run(trimtab):
    times = {chains: {warps: ask(trimtab, "predict", chains, 0, warps) for warps in WARPS} for chains in FIGURE_6}
    rows = []
    for chains, of in times.items():
        speed = {warps: chains * warps / answer["gpuperf_ns"]["T_exec"] for warps, answer in of.items()}
        rows.append(Row(f"ILP {chains}: warps per SM at which the model's performance becomes stable", FIGURE_6[chains],
                        saturation(speed), "warps", why="" if abs(saturation(speed) / FIGURE_6[chains] - 1) <= 0.25 else
                        f"equation (4) with the ILP that Trimtab counts in the PTX: {of[1]['metrics']['instruction_parallelism']:.2f} "
                        f"where {chains} chains make it {chains}; the loop's own instructions are independent of them"))
        terms = of[1]["gpuperf_ns"]
        rows.append(Row(f"ILP {chains}, 1 warp: B_itilp over T_exec", None, 100 * terms["B_itilp"] / terms["T_exec"], "%"))
        terms = of[32]["gpuperf_ns"]
        rows.append(Row(f"ILP {chains}, 32 warps: B_itilp over T_exec", 0.0, 100 * terms["B_itilp"] / terms["T_exec"], "%",
                        says="0: nothing left to gain"))
    return Item("Figure 7: the same by GPUPerf's equations", rows, [
        "`trimtab predict` prints the terms of the paper's equations. The figure has no numbers; it says that the model follows figure 6, "
        "and that B_itilp is what more parallelism would gain."])
