# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import collections

from _cases import OPTIONS
from item import Item, Row, geometric_mean

KERNELS = {"atax": ("ATAX", "atax_kernel1"), "corr": ("CORR", "corr_kernel"), "gramschmidt": ("GRAMSCHM", "gramschmidt_kernel3")}


def run(trimtab):
    cases = collections.defaultdict(list)
    for line in trimtab.selection(*OPTIONS)[1]:
        if line["gpu"] == "gtx1080ti" and line["predicted_ms"]:
            cases[line["app"], line["kernel"], int(line["n"])].append((float(line["measured_ms"]), float(line["predicted_ms"])))
    rows = []
    for name, (app, kernel) in KERNELS.items():
        ratios = []
        for (_, _, n), blocks in sorted(item for item in cases.items() if item[0][:2] == (app, kernel)):
            best = min(blocks)[0]
            at_minimum = min(blocks, key=lambda one: one[1])
            ratio = geometric_mean(predicted / measured for measured, predicted in blocks)
            ratios.append(ratio)
            rows.append(Row(f"{name} ({kernel}), N = {n}: speed at the predicted minimum, of the best; predicted over measured is {ratio:.2f}",
                            1.0, best / at_minimum[0], better="higher", says="predicted minima occur at actual minima",
                            why="" if best / at_minimum[0] >= 0.75 else f"the best takes {1e3 * best:.0f} us: single readings"))
        rows.append(Row(f"{name}: predicted over measured, geometric mean over {len(ratios)} sizes", 1.0, geometric_mean(ratios),
                        says="values are not exact, the shape is", why="" if abs(geometric_mean(ratios) - 1) <= 0.25 else
                        "the predicted times keep their shape and are too short from N = 1024 on; why is not known"))
    return Item("Figure 4: predicted and measured time over N, GTX 1080 Ti", rows, [
        "Three kernels over all measured sizes. The plot has no numbers. Its text claims that minima coincide."])
