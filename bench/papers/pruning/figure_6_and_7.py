# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import csv
import json
import os
import statistics

from item import Item, Row, geometric_mean
from trimtab import ROOT

KERNELS = os.path.join(ROOT, "bench", "selection_quality", "polybench.json")
N = 1024
GPUS = {"gtx1080ti": "GTX 1080 Ti", "rtx2070super": "RTX 2070 SUPER"}
SLOW = {("gtx1080ti", "COVAR")}
# Means over the paper's four GPUs: table 3's MAPE, figure 6, figure 7.
MAPE, SLOWER, PERCENTILE = 17.04, 1.132, statistics.fmean((87.15, 85.35, 78.84, 62.98))


def measured(trimtab):
    """(GPU, app, kernel) -> block -> ms, at N."""
    times = {}
    with open(trimtab.table("polybench.csv")) as file:
        for row in csv.DictReader(file):
            if row["n"] == str(N) and row["gpu"] in GPUS:
                times.setdefault((row["gpu"], row["app"], row["kernel"]), {})[int(row["bx"]), int(row["by"])] = float(row["time_ms"])
    return times


def estimated(trimtab, kernel, gpu, blocks):
    """block -> ms of `blocks`, of all launches of the case: of many, the first, the middle and the last. And ms of this machine."""
    program = trimtab.object(os.path.normpath(os.path.join(os.path.dirname(KERNELS), kernel["source"])),
                             os.path.basename(kernel["source"]) + ".o")
    asked, each = [{}], 1
    if "launches" in kernel:
        first, last = (eval(kernel["launches"][end], {}, {"n": N}) for end in ("from", "to"))
        asked = [{kernel["launches"]["argument"]: at} for at in sorted({first, (first + last) // 2, last})]
        each = (last - first + 1) / len(asked)
    fixed = {name: eval(value, {}, {"n": N}) for name, value in kernel["arguments"].items()}
    times, cost = {}, []
    for extra in asked:
        answer = trimtab.ask("prune", program, "--kernel", kernel["symbol"], "--device", gpu, "--global",
                             ",".join([str(N)] * len(kernel["extent"])), *(f"--arg={name}={value}" for name, value in (fixed | extra).items()),
                             "--method", "exhaustive", "--all", "--quiet", "--bypass-l1", "--sizes", ";".join(f"{x},{y}" for x, y in blocks))
        known = {(one["x"], one["y"]): each * one["ns"] / 1e6 for one in answer["sizes"] if one["fate"] == "simulated"}
        times = {block: times.get(block, 0) + ms for block, ms in known.items()}
        cost.append(1e3 * sum(answer["seconds"].values()) / max(1, len(known)))
    return times, statistics.fmean(cost)


def score(name, known, ours):
    """Of one kernel: errors and choice, by times of the same blocks."""
    best, chosen = min(known, key=known.get), min(ours, key=ours.get)
    return {"name": name, "mape": statistics.fmean(100 * abs(ours[block] / known[block] - 1) for block in known),
            "best": 100 * abs(ours[best] / known[best] - 1), "slower": known[chosen] / known[best],
            "percentile": 100 * sum(ms > known[chosen] for ms in known.values()) / (len(known) - 1)}


def closed_form(trimtab):
    """(GPU, app, kernel) -> block -> ms, by the driver programs."""
    times = {}
    for line in trimtab.selection("--gpu", "gtx1080ti", "--gpu", "rtx2070super")[1]:
        if line["n"] == str(N) and line["predicted_ms"]:
            times.setdefault((line["gpu"], line["app"], line["kernel"]), {})[int(line["bx"]), int(line["by"])] = float(line["predicted_ms"])
    return times


def run(trimtab):
    with open(KERNELS) as file:
        kernels = {(one["app"], one["kernel"]): one for one in json.load(file)}
    of_gpu, closed_of_gpu = {gpu: [] for gpu in GPUS}, {gpu: [] for gpu in GPUS}
    closed = closed_form(trimtab)
    for (gpu, app, name), times in sorted(measured(trimtab).items()):
        kernel = kernels.get((app, name))
        if kernel is None:
            continue
        try:
            ours, cost = estimated(trimtab, kernel, gpu, [block for block in times if block[1] == 1 or len(kernel["extent"]) > 1])
        except RuntimeError as left_out:
            print(f"left out: {left_out}")
            continue
        known = {block: ms for block, ms in times.items() if block in ours}
        if len(known) < 2:
            continue
        of_gpu[gpu].append(score(name, known, ours) | {"cost": cost, "app": app})
        by_form = {block: ms for block, ms in closed.get((gpu, app, name), {}).items() if block in known}
        if len(by_form) == len(known):
            closed_of_gpu[gpu].append(score(name, known, by_form))
    rows = []
    for gpu, title in GPUS.items():
        of, form = of_gpu[gpu], closed_of_gpu[gpu]
        worst, slowest = max(of, key=lambda one: one["mape"]), max(of, key=lambda one: one["slower"])
        rows += [
            Row(f"{title}, {len(of)} kernels: mean absolute error of all sizes (MAPE), mean", MAPE, statistics.fmean(one["mape"] for one in of), "%",
                better="lower", why=f"worst is {worst['name']}, {worst['mape']:.0f} %; docs/pruning.md has the causes"),
            Row(f"{title}: the same, median of kernels", None, statistics.median(one["mape"] for one in of), "%")]
        if any((gpu, one["app"]) in SLOW for one in of):
            rows.append(Row(f"{title}: the same, mean without COVAR, whose times are of another clock", MAPE, statistics.fmean(
                one["mape"] for one in of if (gpu, one["app"]) not in SLOW), "%", better="lower"))
        rows += [
            Row(f"{title}: the same by the closed form, mean", None, statistics.fmean(one["mape"] for one in form), "%"),
            Row(f"{title}: absolute error of the best size, mean", 7.0, statistics.fmean(one["best"] for one in of), "%", better="lower", says="less than 7 %",
                why="as above"),
            Row(f"{title}: time of the chosen size over the best one's, geometric mean", SLOWER, geometric_mean(one["slower"] for one in of), better="lower"),
            Row(f"{title}: the same, most ({slowest['name']})", None, slowest["slower"]),
            Row(f"{title}: the same by the closed form, geometric mean", None, geometric_mean(one["slower"] for one in form)),
            Row(f"{title}: sizes that the chosen one outperforms, mean", PERCENTILE, statistics.fmean(one["percentile"] for one in of), "%",
                better="higher"),
            Row(f"{title}: one estimate, mean", None, statistics.fmean(one["cost"] for one in of), "ms", timed=True)]
    return Item("Figures 6 and 7, and table 3's error, on measured times", rows, [
        f"The paper's GPUs and Rodinia's times are not at hand. Here are PolyBench's kernels, N = {N}, with all their measured blocks, by "
        "`trimtab prune --method exhaustive`: static traces of ptxas's machine code, nothing profiled. "
        "*Paper* is the mean of its four GPUs. DRAM's latency on the GTX 1080 Ti and DRAM's share of the peak are "
        "estimated from the same sweeps, at N = 2048 and 4096.",
        "COVAR's times on the GTX 1080 Ti are of a GPU at about a tenth of its clock: a load from L2 takes 1 461 ns in its "
        "mean_kernel (N = 512), 169 ns in CORR's, which is the same code."])
