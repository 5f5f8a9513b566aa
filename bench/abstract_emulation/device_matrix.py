#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every sample kernel on every described device: are the closed form and abstract emulation within a factor of two?

usage: device_matrix.py BUILD [--n N]... [--program PATH]... [--threads T] [--captures FOLDER] [--json]

The kernels of the PolyBench samples are asked at each N (default 256 and 1024), those of the other samples with the
arguments and the memory of their first launch, in the block that is written. device_matrix.txt lists the launches that
are further apart, each with the reason. Exit codes: 0 no other launch is and each listed one still is, 1 not so, 2 usage,
3 bad input.
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
    parser.add_argument("--captures", help="a folder in which captures stay for the next time")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    known = os.path.join(os.path.dirname(os.path.abspath(__file__)), "device_matrix.txt")
    ask = [os.path.join(options.build, "bench", "device_matrix"), "--threads", str(options.threads)]
    if options.json:
        ask.append("--json")
    if not options.program:
        ask += ["--known", known]
        for n in options.n or [256, 1024]:
            ask += ["--n", str(n)]
    try:
        return ask_with_captures(ask, options.build, options.program, options.captures)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"device_matrix.py: {error}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
