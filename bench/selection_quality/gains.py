#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a chosen block gains over a plain guess, out of what selection_quality measured: a table in Markdown.

usage: gains.py RESULTS.json [--against RULE] [--margin SHARE]

RESULTS.json is what `selection_quality --json` prints; RULE one of its rules (default guess_256_16x16: 256 threads in one
dimension, 16 x 16 in two). A case's gain is the guess's measured time over the chosen block's, less 1. A case counts as
faster or slower where the two differ by more than the margin (default 0.01). Cases without a time of the guess are left out.
Exit codes: 0 printed, 2 usage, 3 bad input.
"""

import argparse
import json
import math
import pathlib
import sys


def gains(cases, rule):
    """(gpu, dimensions) -> ratios of times, guess over chosen."""
    found = {}
    for case in cases:
        chosen, guess = (case["choices"].get(name, {}).get("efficiency") for name in ("trimtab", rule))
        if chosen and guess:
            found.setdefault((case["gpu"], case["dimensions"]), []).append(chosen / guess)
    return found


def row(name, ratios, margin):
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    faster = sum(ratio > 1 + margin for ratio in ratios)
    slower = sum(ratio < 1 - margin for ratio in ratios)
    percent = lambda ratio: f"{(ratio - 1) * 100:+.1f} %"
    return (f"| {name} | {len(ratios)} | {percent(mean)} | {percent(max(ratios))} | {percent(min(ratios))} | "
            f"{faster} | {len(ratios) - faster - slower} | {slower} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results")
    parser.add_argument("--against", default="guess_256_16x16")
    parser.add_argument("--margin", type=float, default=0.01)
    options = parser.parse_args()
    try:
        found = gains(json.loads(pathlib.Path(options.results).read_text())["cases"], options.against)
    except (OSError, ValueError, KeyError) as error:
        print(f"gains.py: {options.results}: {error}", file=sys.stderr)
        return 3
    if not found:
        print(f"gains.py: {options.results}: has no case with times of {options.against}", file=sys.stderr)
        return 3
    print("| | cases | mean gain | largest | least | faster | the same | slower |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for (gpu, dimensions), ratios in sorted(found.items()):
        print(row(f"{gpu}, {dimensions}-D", ratios, options.margin))
    print(row("all", [ratio for ratios in found.values() for ratio in ratios], options.margin))
    return 0


if __name__ == "__main__":
    sys.exit(main())
