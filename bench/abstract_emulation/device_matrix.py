#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every sample kernel on every described device: are the closed form and abstract emulation within a factor of two?

usage: device_matrix.py BUILD [--n N]... [--program PATH]... [--threads T] [--captures FOLDER] [--json]

The kernels of the PolyBench samples are asked at each N (default 256 and 1024), those of the other samples with the
arguments and the memory of their first launch, in the block that is written. device_matrix.txt lists the launches that
are further apart, each with the reason. Exit codes: 0 no other launch is and each listed one still is, 1 not so, 2 usage,
3 bad input.
"""

import os
import sys

from captures import ask_all, parser_for


def main():
    parser = parser_for(__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    more = ["--json"] if options.json else []
    if not options.program:
        more += ["--known", os.path.join(os.path.dirname(os.path.abspath(__file__)), "device_matrix.txt")]
    return ask_all("device_matrix", more, options)


if __name__ == "__main__":
    sys.exit(main())
