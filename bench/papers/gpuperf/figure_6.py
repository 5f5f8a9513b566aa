# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _parallelism import FIGURE_6, WARPS, ask, saturation
from item import Item, Row


def run(trimtab):
    overhead = trimtab.device_value("c2050", "launch_overhead_ns")
    speed = {chains: {warps: chains * warps / (ask(trimtab, "emulate", chains, 0, warps, "--no-sensitivity")["ns"] - overhead)
                      for warps in WARPS} for chains in FIGURE_6}
    one = speed[1][1]
    rows = [Row(f"ILP {chains}: warps per SM at which performance becomes stable", FIGURE_6[chains], saturation(of), "warps",
                why="" if abs(saturation(of) / FIGURE_6[chains] - 1) <= 0.25 else
                "asked at 1, 4, 8, 10 warps and so on; see the performances below") for chains, of in speed.items()]
    rows += [Row(f"ILP {chains}, {warps} warps: performance over ILP 1, 1 warp", None, of[warps] / one, "times")
             for chains, of in speed.items() for warps in WARPS]
    return Item("Figure 6: instruction and thread parallelism on a C2050, by emulation", rows, [
        "Chains of dependent multiply-adds. The text gives the warps at which the measured curves become stable; stable is here "
        "95 % of the most. The plot's heights have no numbers."])
