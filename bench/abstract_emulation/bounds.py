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

import sys

from captures import ask_all, parser_for


def main():
    parser = parser_for(__doc__.splitlines()[0])
    parser.add_argument("--from-ptx", action="store_true")
    options = parser.parse_args()
    return ask_all("emulation_bounds", ["--from-ptx"] if options.from_ptx else [], options)


if __name__ == "__main__":
    sys.exit(main())
