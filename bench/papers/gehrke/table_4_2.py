# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import math

import rk4
import sgemm
import stencil
from _steps import Step, ask
from item import Item, Row

# Small SGEMM: 128 x 96 by 96 x 160. Registers, bytes of shared memory, threads, warps, instructions of warps.
SMALL = Step("tiled", ("-DSTEP=1",), (1, 10), (16, 8), 0, "")
CASES = {"sgemm": ("SGEMM", SMALL, {"k": 96, "lda": 128, "ldb": 160, "ldc": 128}, (47, 4, 1280, 40, 103240)),
         "stencil": ("stencil", stencil.steps("c2050")[1], stencil.ARGUMENTS, (25, 0, 131072, 4096, 24753000)),
         "rk4": ("RK4", rk4.FERMI[0], rk4.ARGUMENTS, (63, 0, 20352, 636, 374047500))}
WHY = {"sgemm": {"registers": "64-bit addresses, and code of sm_35 in place of sm_20's",
                 "instructions": "PTX's: a load for each element of the tile, which ptxas merges by four"},
       "stencil": {"registers": "64-bit addresses, and code of sm_35 in place of sm_20's", "instructions": "other code, and PTX's"},
       "rk4": {"registers": "fewer states, and arrays in local memory", "threads": "8192 sets as in chapter 6, where the table has 20,352",
               "warps": "as above", "instructions": "another system of equations and number of steps"}}
# Page 73: lanes per SM of a GTX 960, and the mix of the base SGEMM.
LANES = {"FP32": 128, "integer": 128, "control": 64, "load/store": 32, "other": 64}
MIX = {"FP32": 5, "integer": 70, "control": 1, "load/store": 9, "other": 15}


def run(trimtab):
    rows = []
    for source, (title, step, arguments, (registers, shared, threads, warps, instructions)) in CASES.items():
        answer, why = ask(trimtab, "predict", "c2050", source, step, arguments), WHY[source]
        launched = math.prod(step.grid) * math.prod(step.block)
        rows += [Row(f"{title}: registers per thread", registers, answer["registers"], why=why.get("registers", "")),
                 Row(f"{title}: threads", threads, launched, why=why.get("threads", "")),
                 Row(f"{title}: warps", warps, launched / 32, why=why.get("warps", "")),
                 Row(f"{title}: instructions of warps", instructions, answer["metrics"]["warp_instructions"] * launched / 32,
                     why=why.get("instructions", ""))]
    metrics = ask(trimtab, "predict", "gtx960", "sgemm", sgemm.steps("gtx960")[0], sgemm.ARGUMENTS)["metrics"]
    total = metrics["warp_instructions"]
    mix = {"FP32": metrics["fp32_instructions"], "integer": metrics["integer_instructions"],
           "load/store": metrics["load_requests"] + metrics["store_requests"]}
    mix["control"] = total - sum(mix.values())
    rows += [Row(f"SGEMM base on a GTX 960: {name} of all instructions", MIX[name], 100 * mix.get(name, 0) / total, "%",
                 why="" if name in ("FP32", "integer", "load/store", "control") else
                 "what is neither arithmetic nor memory counts as control") for name in LANES]
    cap = sum(LANES[name] * count for name, count in mix.items()) / total
    rows += [Row("cap of the mix, operations per clock and SM", 109, cap),
             Row("cap of the mix, of the peak", 89, 100 * cap / LANES["FP32"], "%"),
             Row("the same by `advise`, pipes in turn", None,
                 100 * ask(trimtab, "advise", "gtx960", "sgemm", sgemm.steps("gtx960")[0], sgemm.ARGUMENTS)["kernels"][0]["derived"]["mix_cap_serial"], "%")]
    return Item("Table 4.2 and page 73: static counts, and the cap of the instruction mix", rows, [
        "SGEMM is the tiled one on the small matrices, the stencil the tiled one. The cap is the mean of the units' lanes, weighed by the "
        "mix, as the thesis takes it."])
