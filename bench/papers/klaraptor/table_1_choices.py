# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _cases import GPUS, cases, efficiency
from item import Item, Row, geometric_mean


def run(trimtab):
    both = {key: (efficiency(case, "klaraptor"), efficiency(case, "trimtab")) for key, case in cases(trimtab).items()
            if key[3] >= 512 and efficiency(case, "klaraptor")}
    rows = []
    for gpu, title in GPUS.items():
        of_gpu = {key: pair for key, pair in both.items() if key[0] == gpu}
        for label, pick in (("geometric mean", geometric_mean), ("least", min)):
            rows.append(Row(f"{title}, all {len(of_gpu)} cases, {label}", *(pick(pair[i] for pair in of_gpu.values()) for i in (0, 1)),
                            better="higher"))
        for app, kernel in sorted({key[1:3] for key in of_gpu}):
            sizes = [str(key[3]) for key in sorted(of_gpu) if key[1:3] == (app, kernel)]
            pairs = [pair for key, pair in of_gpu.items() if key[1:3] == (app, kernel)]
            rows.append(Row(f"{title}, {kernel} of {app}, N = {', '.join(sizes)}", *(geometric_mean(pair[i] for pair in pairs) for i in (0, 1)),
                            better="higher"))
    return Item("Table I's comparison, with KLARAPTOR's published predictions", rows, [
        "Speed of the chosen block as a share of the best measured block's, N of at least 512. *Paper*: the block with the least "
        "cycles in KLARAPTOR's own published predictions, profiled on that very GPU. Same cases and same legal blocks for both."])
