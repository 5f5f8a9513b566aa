#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws a map of a launch's time over its thread blocks as SVG: as predicted and, where a table is given, as measured.

usage: draw_blocks.py --ranking SELECT.json --written BX,BY -o FILE.svg [--title TEXT]
                      [--measured TABLE.csv --gpu GPU --kernel KERNEL --n N]

SELECT.json is what `trimtab select --json` prints. TABLE.csv has the columns gpu, kernel, n, bx, by and time_ms; then both
maps show the blocks that were measured. The block as written and the chosen one are marked; every cell names its time.
The picture of README.md:

    trimtab select samples/polybench/syrk.cu --kernel syrk_kernel --device gtx1080ti --arg alpha=1 --arg beta=1 \\
        --arg M=1024 --arg N=1024 --extent 1024,1024 --json > select.json
    scripts/draw_blocks.py --ranking select.json --written 32,8 --measured polybench.csv --gpu gtx1080ti \\
        --kernel syrk_kernel --n 1024 --title "syrk, N = 1024, GTX 1080 Ti" -o docs/images/blocks.svg

Exit codes: 0 drawn, 2 usage, 3 bad input.
"""

import argparse
import csv
import html
import json
import math
import pathlib
import sys

CELL, LEFT, TOP, GAP = 30, 46, 74, 40
# Of the best time: up to such a factor, that colour (light is fast).
SCALE = [(1.03, "#f7fcf0"), (1.1, "#d9f0d3"), (1.25, "#a8ddb5"), (1.5, "#7bccc4"), (2, "#4eb3d3"), (4, "#2b8cbe"), (math.inf, "#084081")]
LABELS = ["up to 1.03 times", "1.1", "1.25", "1.5", "2", "4", "longer"]
WRITTEN, CHOSEN = "#d95f02", "#111111"


def colour(factor):
    return next(name for most, name in SCALE if factor <= most)


def text(x, y, words, size=12, anchor="start", weight="normal"):
    return (f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}">'
            f"{html.escape(words)}</text>")


def shown(milliseconds):
    return f"{milliseconds:.3g} ms" if milliseconds >= 1 else f"{milliseconds * 1000:.3g} us"


def panel(left, heading, times, written, chosen, widths, heights):
    """One map: width grows to the right, height downward."""
    best = min(times.values())
    parts = [text(left + LEFT, TOP - 36, heading, 13, weight="bold")]
    if written in times and chosen in times:
        parts.append(text(left + LEFT, TOP - 20, f"as written {shown(times[written])}, chosen {shown(times[chosen])}, "
                                                 f"best {shown(best)}"))
    for column, bx in enumerate(widths):
        parts.append(text(left + LEFT + (column + 0.5) * CELL, TOP - 5, str(bx), 9, "middle"))
    for row, by in enumerate(heights):
        parts.append(text(left + LEFT - 5, TOP + (row + 0.5) * CELL + 3, str(by), 9, "end"))
        for column, bx in enumerate(widths):
            if (bx, by) not in times:
                continue
            x, y, factor = left + LEFT + column * CELL, TOP + row * CELL, times[bx, by] / best
            parts.append(f'<rect x="{x}" y="{y}" width="{CELL - 1}" height="{CELL - 1}" fill="{colour(factor)}" stroke="#bbb" '
                         f'stroke-width="0.5"><title>{bx} x {by}: {shown(times[bx, by])}, {factor:.2f} times the best</title></rect>')
    for block, ink, inset in ((written, WRITTEN, 1.5), (chosen, CHOSEN, 1.5)):
        if block in times:
            x = left + LEFT + widths.index(block[0]) * CELL
            y = TOP + heights.index(block[1]) * CELL
            parts.append(f'<rect x="{x + inset}" y="{y + inset}" width="{CELL - 1 - 2 * inset}" height="{CELL - 1 - 2 * inset}" '
                         f'fill="none" stroke="{ink}" stroke-width="3"/>')
    parts.append(text(left + LEFT + len(widths) * CELL / 2, TOP + len(heights) * CELL + 16, "threads in x", 11, "middle"))
    parts.append(f'<text x="{left + 14}" y="{TOP + len(heights) * CELL / 2}" font-size="11" text-anchor="middle" '
                 f'transform="rotate(-90 {left + 14} {TOP + len(heights) * CELL / 2})">threads in y</text>')
    return parts


def legend(y):
    parts, x = [text(12, y + 11, "time, against the best:", 11)], 140
    for (_, ink), label in zip(SCALE, LABELS):
        parts += [f'<rect x="{x}" y="{y}" width="14" height="14" fill="{ink}" stroke="#bbb" stroke-width="0.5"/>', text(x + 18, y + 11, label, 11)]
        x += 30 + 6.2 * len(label)
    y += 22
    for x, ink, label in ((140, WRITTEN, "as written"), (232, CHOSEN, "chosen by Trimtab")):
        parts += [f'<rect x="{x}" y="{y}" width="13" height="13" fill="none" stroke="{ink}" stroke-width="3"/>', text(x + 20, y + 11, label, 11)]
    return parts


def draw(title, maps, written, chosen):
    """SVG of (heading, {(bx, by): milliseconds}) side by side."""
    blocks = {block for _, times in maps for block in times}
    widths, heights = sorted({bx for bx, _ in blocks}), sorted({by for _, by in blocks})
    step = LEFT + len(widths) * CELL + GAP
    width, height = max(620, step * len(maps)), TOP + len(heights) * CELL + 74
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             'font-family="Helvetica, Arial, sans-serif" role="img">', f"<title>{html.escape(title)}</title>",
             f'<rect width="{width}" height="{height}" rx="6" fill="#ffffff"/>', '<g fill="#222">',
             text(12, 20, title, 15, weight="bold")]
    for at, (heading, times) in enumerate(maps):
        parts += panel(at * step, heading, times, written, chosen, widths, heights)
    parts += legend(TOP + len(heights) * CELL + 28)
    return "\n".join([*parts, "</g>", "</svg>", ""])


def measured_times(options):
    times = {}
    with open(options.measured, newline="") as file:
        for row in csv.DictReader(file):
            if (row["gpu"], row["kernel"], int(row["n"])) == (options.gpu, options.kernel, options.n):
                times[int(row["bx"]), int(row["by"])] = float(row["time_ms"])
    if not times:
        raise ValueError(f"{options.measured}: has no times of {options.kernel} on {options.gpu} for N = {options.n}")
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranking", required=True)
    parser.add_argument("--written", required=True, help="BX,BY")
    parser.add_argument("--title", default="")
    parser.add_argument("--measured")
    parser.add_argument("--gpu")
    parser.add_argument("--kernel")
    parser.add_argument("--n", type=int)
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    if options.measured and not (options.gpu and options.kernel and options.n):
        parser.error("--measured needs --gpu, --kernel and --n")
    try:
        answer = json.loads(pathlib.Path(options.ranking).read_text())
        written = tuple(int(part) for part in options.written.split(","))
        chosen = (answer["chosen"]["bx"], answer["chosen"]["by"])
        predicted = {(one["bx"], one["by"]): one["ns"] / 1e6 for one in answer["ranking"]}
        maps = [("predicted, without a GPU", predicted)]
        if options.measured:
            measured = measured_times(options)
            maps = [("predicted, without a GPU", {block: ms for block, ms in predicted.items() if block in measured}),
                    ("measured", measured)]
        title = options.title or f'{answer["kernel"]} on {answer["device"]}'
        pathlib.Path(options.output).write_text(draw(title, maps, written, chosen))
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"draw_blocks.py: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
