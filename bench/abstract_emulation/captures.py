# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first launch of every kernel of the sample programs beside PolyBench's, captured at the size of its quick run."""

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


def parser_for(description):
    """What the two that ask about every sample are told."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("build")
    parser.add_argument("--n", action="append", type=int)
    parser.add_argument("--program", action="append", help="only these, as samples/programs.txt spells them")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--captures", help="a folder in which captures stay for the next time")
    return parser


def ask_all(program, more, options):
    """Runs BUILD/bench/PROGRAM on all launches, with `more` after it. Returns its exit code, 3 where a launch is not had."""
    ask = [os.path.join(options.build, "bench", program), "--threads", str(options.threads), *more]
    if not options.program:
        for n in options.n or [256, 1024]:
            ask += ["--n", str(n)]
    try:
        with tempfile.TemporaryDirectory() as scratch:
            folder = options.captures or scratch
            os.makedirs(folder, exist_ok=True)
            for path, *arguments in programs(options.program):
                for file in capture(options.build, path, arguments, folder):
                    ask += ["--capture", file]
            return subprocess.run(ask, check=False).returncode
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{program}: {error}", file=sys.stderr)
        return 3
