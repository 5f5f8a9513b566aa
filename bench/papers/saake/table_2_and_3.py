# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _contractions import AFTER, BEFORE, SOURCE, emulated, gflops, macros
from item import Item, Row

NAME = "d1_6"
SPACE = {"TX": (16, 32), "TY": (8, 16), "WX": (2, 4), "WY": (2, 4)}
# Table 2: GFLOP/s of the base, of SAAKE's choice and of the best; table 3: how many times faster tuning gets.
PAPER = {"k20c": ("Kepler (K20c)", 79, 106, 129, 4.16)}
FAST = "too fast, and why is not known, as in table 4"


def search(trimtab, gpu, method):
    fixed = {name: value for name, value in macros(NAME, AFTER).items() if name not in SPACE}
    return trimtab.ask("search", SOURCE, "--kernel", "contraction", "--device", gpu, "--arg", "n=16", "--method", method,
                       *(f"--flag=-D{name}={value}" for name, value in fixed.items()),
                       *(f"--variants={name}={','.join(map(str, values))}" for name, values in SPACE.items()),
                       "--grid", "4096 / (TX * WX),4096 / (TY * WY)", "--block", "TX,TY")


def run(trimtab):
    rows = []
    for gpu, (title, base, chosen, best, faster) in PAPER.items():
        directed, every = search(trimtab, gpu, "directed"), search(trimtab, gpu, "exhaustive")
        speeds = {"base": emulated(trimtab, gpu, NAME, BEFORE), "chosen": gflops(directed["best"]["ns"]), "best": gflops(every["best"]["ns"])}
        values = ", ".join(f"{name} {value}" for name, value in directed["best"]["values"].items())
        def why(paper, ours):
            return FAST if abs(ours / paper - 1) > 0.25 else ""
        # In the order of trying, the first that is as fast as the best of all.
        tries = 1 + next((index for index, one in enumerate(directed["steps"]) if one["ns"] <= 1.01 * every["best"]["ns"]), len(directed["steps"]))
        rows += [
            Row(f"{title}, sd_t_{NAME}: base", base, speeds["base"], "GFLOP/s", why=why(base, speeds["base"])),
            Row(f"{title}: directed search's choice ({values}), {directed['emulated']} of {directed['candidates']} emulated", chosen, speeds["chosen"],
                "GFLOP/s", why=why(chosen, speeds["chosen"])),
            Row(f"{title}: best of all {every['emulated']}", best, speeds["best"], "GFLOP/s", why=why(best, speeds["best"])),
            Row(f"{title}: choice over best", chosen / best, speeds["chosen"] / speeds["best"], "times", better="higher"),
            Row(f"{title}: all configurations over those tried until within 1 % of the best", faster, every["emulated"] / tries, "times", better="higher",
                says=f"{faster} in tuning time, all of Rodinia", why="" if every["emulated"] / tries >= 0.75 * faster else
                "configurations, not seconds, and a space of few of them")]
    return Item("Tables 2 and 3: directed search on a contraction", rows, [
        "`trimtab search --variants` over the threads (TX x TY) and the results per thread (WX x WY) of `contractions.cu`, by emulation. "
        "The paper's speeds are measured; its space also has other mappings, and its best is OpenTuner's. sd_t_d1_5, the Titan X and Rodinia's kernels are not run."])
