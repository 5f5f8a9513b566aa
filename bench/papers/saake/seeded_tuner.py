# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import importlib.util
import json
import os
import subprocess
import sys

from item import Item, Row
from trimtab import ROOT, Missing

TABLES = {"rtx3090": "RTX 3090"}
VARIANTS = {"block_size_x": "16,32,64,128", "block_size_y": "1,2,4,8,16", "tile_size_x": "1,2,3,4,5,6,7,8",
            "tile_size_y": "1,2,3,4,5,6,7,8", "read_only": "1", "use_padding": "1"}
MACROS = {"block_size_x": "BLOCK_X", "block_size_y": "BLOCK_Y", "tile_size_x": "TILE_X", "tile_size_y": "TILE_Y",
          "read_only": "READ_ONLY", "use_padding": "USE_PADDING"}
WHERE = ("block_size_x * block_size_y >= 64", "block_size_x * block_size_y <= 1024", "tile_size_x * tile_size_y <= 8")
EMULATED, SEEDS, MOST = 10, 30, 300
STRATEGIES = ("genetic_algorithm", "greedy_ils", "diff_evo")


def leaders(trimtab, gpu):
    path = os.path.join(trimtab.folder.name, gpu + "_leaders.json")
    trimtab.bench("bin/trimtab", "search", os.path.join(ROOT, "bench", "kernels", "convolution_tiled.cu"), "--kernel", "convolution_tiled",
                  "--device", gpu, *(word for name, values in VARIANTS.items() for word in ("--variants", f"{name}={values}")),
                  *(f"--flag=-D{macro}={name}" for name, macro in MACROS.items()), *(word for one in WHERE for word in ("--where", one)),
                  "--grid", "ceil(4096 / (block_size_x * tile_size_x)), ceil(4096 / (block_size_y * tile_size_y))", "--block",
                  "block_size_x, block_size_y", "--method", "directed", "--most", str(EMULATED), "--keep", str(EMULATED), "--format",
                  "kernel-tuner", "-o", path)
    return path


def simulated(trimtab, gpu):
    words = [sys.executable, os.path.join(ROOT, "bench", "tuners", "simulation.py"), trimtab.table(f"convolution_{gpu}.csv"),
             leaders(trimtab, gpu), "--seeds", str(SEEDS), "--most", str(MOST), "--json"]
    done = subprocess.run([*words, *(f"--strategy={one}" for one in STRATEGIES)], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": os.path.join(ROOT, "python")})
    if done.returncode != 0:
        raise RuntimeError(f"simulation.py: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def rows_of(title, found):
    rows = [Row(f"{title}: the best of the {found['leaders']} leaders, of the best of {found['configurations']} configurations", None,
                100 * found["best_leader_share"], "%")]
    for strategy, ways in found["strategies"].items():
        alone, seeded = ways["alone"], ways["from_leaders"]
        for goal, name in (("to_share", "to 95 % of the best"), ("to_best", "to the best")):
            missed = "share_missed" if goal == "to_share" else "best_missed"
            rows.append(Row(f"{title}, {strategy}, {name}: evaluations alone, {alone[goal]:.1f} ({alone[missed]} runs missed it), over those from the "
                            f"leaders, {seeded[goal]:.1f} ({seeded[missed]})", None, alone[goal] / seeded[goal], "times",
                            says="3.7 to 4.2 times in tuning time" if goal == "to_share" else ""))
    return rows


def run(trimtab):
    if importlib.util.find_spec("kernel_tuner") is None:
        raise Missing("the package kernel_tuner is not installed")
    rows = [row for gpu, title in TABLES.items() for row in rows_of(title, simulated(trimtab, gpu))]
    return Item("Figures 7 and 8: what a tuner gains from where Trimtab says to start", rows, [
        f"The paper has OpenTuner; here are Kernel Tuner's strategies (1.5.0) in simulation mode, on a table of all measured configurations of a "
        f"tiled convolution that was published for it, means of {SEEDS} seeds. A run that does not get there within {MOST} counts as {MOST}. The "
        f"leaders are all that `trimtab search` emulated, {EMULATED} of 320 launches (blocks 16 to 128 by 1 to 16, tiles of up to 8 results), in the order of "
        "their emulated times. They are measured first and counted; the strategy then starts from the fastest. The seconds of compiling and emulating "
        "them are not counted. The space of 320 was chosen when it was known that the best tiles are 1 x 8 and 1 x 7 and lie outside an earlier space; a "
        "search of the table's whole space was stopped after 19 minutes of compiling large tiles. Run on 27 November 2026."])
