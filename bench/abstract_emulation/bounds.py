#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every sample kernel, on every described device, in every legal block of powers of two: does each answer of abstract
emulation lie between its bounds?

usage: bounds.py BUILD [--n N]... [--program PATH]... [--threads T] [--from-ptx] [--captures FOLDER]

The kernels of the PolyBench samples are asked at each N (default 256 and 1024). Of every other program of
samples/programs.txt the first launch of each kernel is captured, at the size of its quick run (kept in --captures), and
asked with its own memory. BUILD/bench/emulation_bounds does the asking. Exit codes: 0 no bound is crossed, 1 one is,
2 usage, 3 bad input.
"""

import argparse
import os
import subprocess
import sys

from captures import ask_with_captures

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--n", action="append", type=int)
    parser.add_argument("--program", action="append", help="only these, as samples/programs.txt spells them")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--from-ptx", action="store_true")
    parser.add_argument("--captures", help="a folder in which captures stay for the next time")
    options = parser.parse_args()
    ask = [os.path.join(options.build, "bench", "emulation_bounds"), "--threads", str(options.threads)]
    if options.from_ptx:
        ask.append("--from-ptx")
    if not options.program:
        for n in options.n or [256, 1024]:
            ask += ["--n", str(n)]
    try:
        return ask_with_captures(ask, options.build, options.program, options.captures)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"bounds.py: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
