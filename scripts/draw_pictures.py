#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the manual's pictures as SVG, from what Trimtab prints and from the device descriptions.

usage: draw_pictures.py way|sm|coverage|timeline|efficiency [OPTION]... -o FILE.svg

    draw_pictures.py way -o docs/images/way.svg
    draw_pictures.py sm --description DEVICE.json -o docs/images/sm.svg
    draw_pictures.py coverage --description DEVICE.json --extent 300,200 --written 32,32 --chosen 32,8 -o ...
    draw_pictures.py timeline --trace TRACE.json --cycles 2500 -o ...      # of `trimtab emulate --trace TRACE.json`
    draw_pictures.py efficiency -o ...                                     # the table of bench/README.md

scripts/draw_blocks.py draws the maps of times over blocks. docs/maintainers/packages.md has the commands of all pictures.
Exit codes: 0 drawn, 2 usage, 3 bad input.
"""

import argparse
import html
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INK, PALE, LINE = "#222222", "#f2f5f8", "#8a97a5"
BLUE, GREEN, ORANGE, RED, GREY = "#4c78a8", "#54a24b", "#f58518", "#d1495b", "#c7d0d9"
EFFICIENCY = re.compile(r"^\| ((?:GTX|RTX)[^|]*kernels|(?:GTX|RTX)[^|]*-D) \| (\d+) \| ([\d.]+) \| [\d.]+ \| [\d.]+ \| ([\d.]+) "
                        r"\| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)


class Picture:
    """Shapes on a white ground, which is seen on a dark page as well."""

    def __init__(self, width, height, title):
        self.width, self.height, self.title, self.parts = width, height, title, []

    def text(self, x, y, words, size=12, anchor="start", weight="normal", fill=INK):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" '
                          f'fill="{fill}">{html.escape(words)}</text>')

    def box(self, x, y, width, height, fill=PALE, stroke=LINE, radius=4):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:.5g}" height="{height:g}" rx="{radius}" fill="{fill}" '
                          f'stroke="{stroke}"/>')

    def arrow(self, x1, y1, x2, y2, stroke=INK):
        self.parts.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{stroke}" stroke-width="1.5" '
                          'marker-end="url(#head)"/>')

    def line(self, x1, y1, x2, y2, stroke=LINE, dash=None):
        self.parts.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{stroke}"'
                          + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
                f'height="{self.height}" font-family="Helvetica, Arial, sans-serif" role="img">\n'
                f"<title>{html.escape(self.title)}</title>\n"
                '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
                f'<path d="M0 0L8 4L0 8z" fill="{INK}"/></marker></defs>\n'
                f'<rect width="{self.width}" height="{self.height}" rx="6" fill="#ffffff"/>\n'
                + "\n".join(self.parts) + "\n</svg>\n")


def way():
    """A program from its source to a launch."""
    picture = Picture(760, 342, "From a CUDA source to a launch with a chosen block")

    def station(x, y, heading, *lines, fill=PALE):
        picture.box(x, y, 160, 74, fill)
        picture.text(x + 80, y + 20, heading, 13, "middle", "bold")
        for number, line in enumerate(lines):
            picture.text(x + 80, y + 40 + 16 * number, line, 11, "middle")

    picture.text(16, 26, "At the build: trimtab++", 14, weight="bold")
    for x, words in ((16, ("Compile", "app.cu to PTX", "and machine code")), (206, ("Prove", "may the block change?", "the checker agrees")),
                     (396, ("Profile", "on the emulator,", "at small sizes")), (586, ("Fit", "counts as functions of", "size and block"))):
        station(x, 40, *words)
        if x > 16:
            picture.arrow(x - 30, 77, x - 2, 77)
    station(586, 140, "Driver program", "C code: counts, time,", "search of the blocks", fill="#e3eefa")
    picture.arrow(666, 114, 666, 138)
    station(16, 140, "Program", "your code, and the", "driver programs", fill="#e3eefa")
    picture.arrow(586, 177, 180, 177)
    picture.text(383, 170, "compiled, and linked in", 11, "middle")
    picture.text(16, 240, "At each launch: libtrimtab.so", 14, weight="bold")
    for x, words in ((16, ("Launch", "arguments, grid, block", "as you wrote them")), (206, ("Decide", "remembered, or the", "driver program's choice")),
                     (396, ("Check", "limits of the device", "and of the kernel")), (586, ("Run", "on the GPU, or on", "the emulator"))):
        station(x, 252, *words)
        if x > 16:
            picture.arrow(x - 30, 289, x - 2, 289)
    picture.arrow(96, 214, 96, 228)
    return picture


def of_device(path):
    values = json.loads(pathlib.Path(path).read_text())
    return values["name"], {name: entry["value"] for name, entry in values["values"].items()}


def bytes_of(count):
    return f"{count / 2**20:g} MiB" if count >= 2**20 else f"{count / 1024:g} KiB"


def sm(description):
    """An SM with its resources, and what it shares with the others."""
    name, h = of_device(description)
    picture = Picture(760, 420, f"An SM of {name}")
    picture.text(16, 26, f"{name}: one of {h['sm_count']:g} SMs, {h['sm_clock_hz'] / 1e6:g} MHz", 14, weight="bold")
    picture.box(16, 38, 728, 236, "#ffffff", INK)
    schedulers = int(h["schedulers_per_sm"])
    width = (704 - 12 * (schedulers - 1)) / schedulers
    for part in range(schedulers):
        x = 28 + part * (width + 12)
        picture.box(x, 50, width, 132)
        picture.text(x + width / 2, 68, "scheduler", 12, "middle", "bold")
        picture.text(x + width / 2, 84, "1 warp instruction per cycle", 10, "middle")
        for row, (label, field, colour) in enumerate((("FP32", "fp32_lanes_per_sm", BLUE), ("INT32", "int32_lanes_per_sm", GREEN),
                                                      ("special functions", "special_function_lanes_per_sm", ORANGE))):
            lanes = h[field] / schedulers
            picture.box(x + 8, 94 + 28 * row, width - 16, 22, "#ffffff", colour)
            picture.text(x + width / 2, 109 + 28 * row, f"{label}: {lanes:g} lanes", 11, "middle")
    picture.box(28, 192, 228, 34, "#e3eefa")
    picture.text(142, 213, f"registers: {h['registers_per_sm']:g}, {h['max_threads_per_sm']:g} threads", 11, "middle")
    picture.box(266, 192, 228, 34, "#e3eefa")
    picture.text(380, 213, f"load/store: {h['load_store_units_per_sm']:g} addresses per cycle", 11, "middle")
    picture.box(504, 192, 228, 34, "#e3eefa")
    picture.text(618, 213, f"at most {h['max_blocks_per_sm']:g} blocks, {h['max_warps_per_sm']:g} warps", 11, "middle")
    picture.box(28, 234, 347, 30)
    picture.text(201, 253, f"shared memory: {bytes_of(h['shared_bytes_per_sm'])}, {h['latency_shared_cycles']:g} cycles", 11, "middle")
    picture.box(385, 234, 347, 30)
    picture.text(558, 253, f"L1: {bytes_of(h['l1_bytes'])}, {h['latency_l1_cycles']:g} cycles", 11, "middle")
    picture.arrow(380, 274, 380, 296)
    picture.box(16, 298, 728, 42, "#fdf1e0")
    picture.text(380, 323, f"L2, of all SMs: {bytes_of(h['l2_bytes'])}, {h['l2_bytes_per_clock']:g} bytes per cycle, "
                           f"{h['latency_l2_cycles']:g} cycles", 12, "middle")
    picture.arrow(380, 340, 380, 362)
    picture.box(16, 364, 728, 42, "#fbe3e6")
    picture.text(380, 389, f"DRAM: {h['dram_bytes'] / 2**30:.3g} GiB, {h['dram_bytes_per_s'] / 1e9:.4g} GB/s, "
                           f"{h['latency_dram_cycles']:g} cycles", 12, "middle")
    return picture


def resident_blocks(h, threads, registers):
    """CUDA's rule, as docs/model.md has it, without shared memory."""
    warps = math.ceil(threads / 32)
    unit, parts = h["register_allocation_unit"], h["warp_allocation_granularity"]
    per_warp = math.ceil(registers * 32 / unit) * unit
    by_registers = math.floor(h["registers_per_sm"] / parts / per_warp) * parts // warps
    by_threads = min(h["max_threads_per_sm"] // 32, h["max_warps_per_sm"]) // warps
    return int(min(by_threads, by_registers, h["max_blocks_per_sm"]))


def coverage(description, extent, written, chosen, registers):
    """How the blocks of two launches cover an extent, and what their last waves leave idle."""
    name, h = of_device(description)
    picture = Picture(760, 400, "Blocks that cover an extent, and the waves in which they run")
    picture.text(16, 26, f"{extent[0]} x {extent[1]} threads on {name}, {registers} registers per thread", 14, weight="bold")
    for column, (label, block) in enumerate((("as written", written), ("another block", chosen))):
        left = 16 + 376 * column
        grid = [math.ceil(extent[axis] / block[axis]) for axis in (0, 1)]
        covered = [grid[axis] * block[axis] for axis in (0, 1)]
        scale = 340 / max(covered[0], covered[1] * 340 / 190)
        picture.text(left, 50, f"{label}: {block[0]} x {block[1]}, a grid of {grid[0]} x {grid[1]}", 12, weight="bold")
        picture.box(left, 60, covered[0] * scale, covered[1] * scale, "#fbe3e6", RED, 0)
        picture.box(left, 60, extent[0] * scale, extent[1] * scale, "#e3eefa", "none", 0)
        for x in range(grid[0] + 1):
            picture.line(left + x * block[0] * scale, 60, left + x * block[0] * scale, 60 + covered[1] * scale, "#9fb4c9")
        for y in range(grid[1] + 1):
            picture.line(left, 60 + y * block[1] * scale, left + covered[0] * scale, 60 + y * block[1] * scale, "#9fb4c9")
        idle = 1 - extent[0] * extent[1] / (covered[0] * covered[1])
        picture.text(left, 282, f"{100 * idle:.1f} % of its threads are beyond the extent (red)", 11)
        blocks, resident = grid[0] * grid[1], resident_blocks(h, block[0] * block[1], registers)
        wave = int(h["sm_count"]) * resident
        waves, last = math.ceil(blocks / wave), blocks % wave or wave
        for number in range(waves):
            full = last / wave if number == waves - 1 else 1
            width = min(340 / waves, 90) - 4
            picture.box(left + number * (width + 4), 296, width, 30, "#ffffff", LINE, 2)
            picture.box(left + number * (width + 4), 296, width * full, 30, BLUE, "none", 2)
        picture.text(left, 344, f"{blocks} blocks, {wave} at a time ({resident} on each SM): {waves} wave{'s' * (waves > 1)}", 11)
        picture.text(left, 360, f"the last wave, the tail, has {last} of {wave} blocks", 11)
    picture.text(16, 388, "The guard stops threads beyond the extent. In the tail, SMs are idle. Both depend on the block.", 11, fill="#555555")
    return picture


def timeline(trace, cycles):
    """The first cycles of the warps on one SM, as `trimtab emulate --trace` writes them for Perfetto."""
    events = json.loads(pathlib.Path(trace).read_text())["traceEvents"]
    names = {event["pid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    timed = [event for event in events if event["ph"] == "X" and event["ts"] < cycles]
    rows = sorted({(event["pid"], event["tid"]) for event in timed})[:16]
    colours = {"fp32": BLUE, "integer": GREEN, "load_store": GREY, "shared": "#b279a2", "branch": ORANGE, "issue": RED}
    left, height = 110, 15
    picture = Picture(760, 74 + height * len(rows) + 40, "The first cycles of the warps on one SM")
    scale = (740 - left) / cycles
    picture.text(16, 26, f"The first {cycles:g} cycles of the warps on one SM", 14, weight="bold")
    for row, (block, warp) in enumerate(rows):
        top = 40 + height * row
        picture.text(left - 8, top + 11, f"{names[block]}, warp {warp}", 10, "end")
        picture.line(left, top + height - 1, 740, top + height - 1, "#eeeeee")
        mine = sorted((event for event in timed if (event["pid"], event["tid"]) == (block, warp)),
                      key=lambda event: event["args"].get("resource") != "load_store")  # waits below, work above
        for event in mine:
            wait = event["args"].get("resource") == "load_store" and event["dur"] > 30
            width = min(max(event["dur"] * scale, 0.8), 740 - left - event["ts"] * scale)
            picture.box(left + event["ts"] * scale, top + (4 if wait else 1), width, 5 if wait else 11,
                        colours.get(event["args"].get("resource"), "#888888"), "none", 0)
    bottom = 40 + height * len(rows)
    for tick in range(0, int(cycles) + 1, max(1, int(cycles) // 5)):
        picture.line(left + tick * scale, bottom, left + tick * scale, bottom + 5, INK)
        picture.text(left + tick * scale, bottom + 18, f"{tick}", 10, "middle")
    x = left
    for label, colour in (("waits for a load", GREY), ("FP32", BLUE), ("integers", GREEN), ("branches", ORANGE), ("shared memory", "#b279a2")):
        picture.box(x, bottom + 32, 12, 10, colour, "none", 2)
        picture.text(x + 17, bottom + 41, label, 11)
        x += 30 + 7 * len(label)
    picture.height = bottom + 56
    return picture


def efficiency():
    """The chosen block's speed as a share of the best block's, and that of plain rules: measured times."""
    rows = EFFICIENCY.findall((ROOT / "bench" / "README.md").read_text())
    if not rows:
        raise ValueError("bench/README.md has no table of efficiencies")
    picture = Picture(760, 84 + 92 * len(rows), "Share of the best block's speed, by rule")
    picture.text(16, 26, "Share of the best block's speed, measured (geometric mean over the cases)", 14, weight="bold")
    rules = (("Trimtab", 2, BLUE), ("256 threads, or 16 x 16", 4, GREY), ("largest occupancy", 5, "#d9c3a5"), ("best fixed block, in hindsight", 3, "#a9cfa4"))
    for group, row in enumerate(rows):
        top = 52 + 92 * group
        picture.text(16, top + 12, row[0].removesuffix(" kernels"), 12, weight="bold")
        picture.text(16, top + 28, f"{row[1]} cases", 11)
        for number, (_, column, colour) in enumerate(rules):
            share = float(row[column])
            picture.box(190, top + 19 * number, 500 * share, 15, colour, "none", 2)
            picture.text(184 + 500 * share, top + 19 * number + 12, f"{100 * share:.1f} %", 11, "end", fill="#ffffff" if colour == BLUE else INK)
    bottom = 52 + 92 * len(rows)
    picture.line(690, 44, 690, bottom - 12, INK, "3 3")
    x = 16
    for label, _, colour in rules:
        picture.box(x, bottom, 12, 12, colour, "none", 2)
        picture.text(x + 18, bottom + 11, label, 11)
        x += 40 + 6.6 * len(label)
    picture.text(690, 40, "best block", 10, "middle")
    return picture


def pair(words):
    x, _, y = words.partition(",")
    return int(x), int(y)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", choices=["way", "sm", "coverage", "timeline", "efficiency"])
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--description")
    parser.add_argument("--extent", type=pair, default=(300, 200))
    parser.add_argument("--written", type=pair, default=(32, 32))
    parser.add_argument("--chosen", type=pair, default=(32, 8))
    parser.add_argument("--registers", type=int, default=32)
    parser.add_argument("--trace")
    parser.add_argument("--cycles", type=float, default=2500)
    options = parser.parse_args()
    if options.picture == "timeline" and not options.trace:
        parser.error("timeline needs --trace")
    if options.picture in ("sm", "coverage") and not options.description:
        parser.error(f"{options.picture} needs --description")
    try:
        picture = {"way": way, "sm": lambda: sm(options.description), "efficiency": efficiency,
                   "coverage": lambda: coverage(options.description, options.extent, options.written, options.chosen, options.registers),
                   "timeline": lambda: timeline(options.trace, options.cycles)}[options.picture]()
        pathlib.Path(options.output).write_text(picture.svg())
    except (OSError, ValueError, KeyError) as error:
        print(f"draw_pictures.py: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
