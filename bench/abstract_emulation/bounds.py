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
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
POLYBENCH = "polybench/"


def programs(wanted):
    with open(os.path.join(ROOT, "samples", "programs.txt"), encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return [line for line in lines if not line[0].startswith(POLYBENCH) and (not wanted or line[0] in wanted)]


def capture(build, path, arguments, folder):
    """The files of the first launch of each of the program's kernels."""
    stem = os.path.splitext(os.path.basename(path))[0]
    binary = os.path.join(folder, stem)
    if not os.path.exists(binary):
        subprocess.run([os.path.join(build, "bin", "trimtab++"), "-O3", "--trimtab-quiet", "--trimtab-profile=off",
                        "-I" + os.path.join(ROOT, "include"), os.path.join(ROOT, "samples", path), "-o", binary],
                       check=True)
    base = {**os.environ, "TRIMTAB_DEVICE": "rtx2070super"}
    report = os.path.join(folder, stem + ".jsonl")
    if os.path.exists(report):
        os.remove(report)
    subprocess.run([binary, *arguments], env={**base, "TRIMTAB": "observe", "TRIMTAB_REPORT": report}, check=True,
                   capture_output=True)
    with open(report, encoding="utf-8") as file:
        kernels = sorted({json.loads(line)["kernel"] for line in file})
    files = []
    for kernel in kernels:
        file = os.path.join(folder, f"{stem}.{kernel}.capture")
        if not os.path.exists(file):
            subprocess.run([binary, *arguments], check=True, capture_output=True,
                           env={**base, "TRIMTAB": "off", "TRIMTAB_CAPTURE": kernel, "TRIMTAB_CAPTURE_FILE": file})
        files.append(file)
    return files


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
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.captures or scratch
        os.makedirs(folder, exist_ok=True)
        try:
            for path, *arguments in programs(options.program):
                for file in capture(options.build, path, arguments, folder):
                    ask += ["--capture", file]
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"bounds.py: {error}", file=sys.stderr)
            return 3
        return subprocess.run(ask, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
