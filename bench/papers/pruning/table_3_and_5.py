# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os

from item import Item, Row, geometric_mean
from trimtab import ROOT

FOLDERS = {"bench": os.path.join(ROOT, "bench", "pruning"), "own": os.path.dirname(os.path.abspath(__file__))}
GPU = "k620"
LINE = ";".join(str(size) for size in range(32, 513, 16))
SQUARE = ";".join(f"{x},{y}" for x in (4, 8, 16, 32) for y in (2, 4, 8, 16))
# Table 3: benchmark, kernel -> ms per estimate; then ours: file, kernel, global size, arguments, sizes, bytes per item.
CELLS = {"cells": 97152, "stride": 97152}
KERNELS = {
    ("backprop", "bpnn_adjust_weights"): (23.03, "bench/backprop.cl", "adjust_weights", "100,1600", {"hidden": 100}, "dividing", 0),
    ("backprop", "bpnn_layerforward"): (40.08, "bench/backprop.cl", "layer_forward", "100,1600", {"hidden": 100}, "dividing", 4),
    ("bfs", "BFS_1"): (60.09, "bench/bfs.cl", "visit", "1048576", {"count": 1048576}, LINE, 0),
    ("bfs", "BFS_2"): (10.40, "bench/bfs.cl", "advance", "1048576", {"count": 1048576}, LINE, 0),
    ("b+tree", "findK"): (72.93, "own/rodinia.cl", "find", "2560000", {"order": 256, "height": 4}, "256", 4),
    ("b+tree", "findRangeK"): (119.66, "own/rodinia.cl", "find_range", "1536000", {"order": 256, "height": 4}, "256", 4),
    ("cfd", "compute_flux"): (77.55, "bench/cfd.cl", "compute_flux", "97152", CELLS, LINE, 0),
    ("cfd", "compute_step_factor"): (14.01, "bench/cfd.cl", "compute_step_factor", "97152", CELLS, LINE, 0),
    ("cfd", "initialize_variables"): (15.38, "bench/cfd.cl", "initialize_variables", "97152", CELLS, LINE, 0),
    ("cfd", "time_step"): (23.78, "bench/cfd.cl", "time_step", "97152", CELLS | {"stage": 1}, LINE, 0),
    ("hotspot", "hotspot"): (4130.09, "own/rodinia.cl", "hotspot", "512,512", {"columns": 512, "rows": 512, "rounds": 60}, SQUARE, 8),
    ("kmeans", "kmeans_c"): (824.60, "bench/kmeans.cl", "assign", "10000", {"points": 10000, "clusters": 5, "features": 34}, LINE, 0),
    ("kmeans", "kmeans_swap"): (219.67, "bench/kmeans.cl", "swap", "10000", {"points": 10000, "features": 34}, LINE, 0),
    ("lud", "lud_internal"): (45.10, "own/rodinia.cl", "lud_internal", "240,240", {"size": 256, "offset": 0, "depth": 16}, SQUARE, 0),
    ("nn", "nearestNeighbor"): (6.030, "bench/nn.cl", "nearest_neighbour", "131072", {"count": 131072}, LINE, 0),
    ("nw", "nw_kernel1"): (65.27, "own/rodinia.cl", "align", "2048", {"columns": 2049, "penalty": 10, "side": 16}, "16", 76),
    ("particlefilter", "particle_naive"): (11751.93, "bench/particle.cl", "resample", "2048", {"particles": 2048}, LINE, 0),
    ("pathfinder", "dynproc"): (1055.97, "own/rodinia.cl", "dynproc", "100000", {"columns": 100000, "rounds": 20}, LINE, 4)}
NW = "each step of the wavefront has other lanes, so that none of its traces stands for the rest"
TABLE_5 = ("bfs", "hotspot", "lud", "nn", "nw", "pathfinder")


def run(trimtab):
    rows, ours = [], {}
    for (benchmark, kernel), (paper, file, name, size, arguments, sizes, local) in KERNELS.items():
        folder, file = file.split("/")
        answer = trimtab.ask("prune", os.path.join(FOLDERS[folder], file), "--kernel", name, "--device", GPU, "--global", size, "--sizes", sizes,
                             "--method", "exhaustive", "--quiet", "--unknown-trips", 6, "--local-per-item", local,
                             *(f"--arg={key}={value}" for key, value in arguments.items()))
        each = 1e3 * sum(answer["seconds"].values()) / max(1, answer["simulated"])
        ours.setdefault(benchmark, []).append(each)
        rows.append(Row(f"{benchmark}, {kernel}: time per estimate, of {answer['simulated']} sizes", paper, each, "ms", better="lower",
                        timed=True, why=NW if benchmark == "nw" else ""))
    paper = {}
    for (benchmark, _), (each, *_) in KERNELS.items():
        paper.setdefault(benchmark, []).append(each)
    rows += [Row("table 5: time per estimate, geometric mean of six benchmarks", geometric_mean(sum(paper[one]) for one in TABLE_5),
                 geometric_mean(sum(ours[one]) for one in TABLE_5), "ms", better="lower", timed=True)]
    return Item("Tables 3 and 5: what an estimate costs, by kernel", rows, [
        "Kernels of the same kinds on a K620, in OpenCL C and of our own, by `trimtab prune --method exhaustive`. An estimate is a size's traces "
        "and its simulation, on this machine's processor. Table 3's errors need measured times of its GPUs, which are not at hand: "
        "see figures 6 and 7. GPGPU-Sim (table 5) was not run. nw and the trees have one size here, because their groups are as large as their data."])
