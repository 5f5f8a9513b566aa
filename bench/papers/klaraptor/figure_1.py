# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _cases import GPUS, cases, efficiency
from item import Item, Row
from table_1 import printed

GOOD = 0.85  # "Ratios greater than 85 % are considered good."


def run(trimtab):
    def share(pairs, rule, least):
        return 100 * sum(pair[rule] >= least for pair in pairs) / len(pairs)
    table = [float(line["best_ms"]) / float(line["chosen_ms"]) for line in printed() if line["n"] == "2048"]
    every = {key: (efficiency(case, "klaraptor"), efficiency(case, "trimtab")) for key, case in cases(trimtab).items()}
    at_2048 = [pair[1] for key, pair in every.items() if key[0] == "gtx1080ti" and key[3] == 2048]
    rows = [Row(f"N = 2048, within {round(100 * (1 - least))} % of the best, paper from table I ({len(table)} kernels), ours {len(at_2048)}",
                100 * sum(one >= least for one in table) / len(table), 100 * sum(one >= least for one in at_2048) / len(at_2048),
                "%", better="higher") for least in (GOOD, 0.95)]
    for gpu, title in GPUS.items():
        pairs = [pair for key, pair in every.items() if key[0] == gpu and key[3] >= 512 and pair[0]]
        rows += [Row(f"{title}, {len(pairs)} cases of N from 512, within {round(100 * (1 - least))} %", share(pairs, 0, least),
                     share(pairs, 1, least), "%", better="higher") for least in (GOOD, 0.95)]
    return Item("Figure 1: how often is the choice within 15 and 5 % of the best?", rows, [
        "The figure's bars have no numbers in the text; its first two rows are from table I. The others compare KLARAPTOR's "
        "published predictions and Trimtab on the same measured cases."])
