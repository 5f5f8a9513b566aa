# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first launch of every kernel of the sample programs beside PolyBench's, captured at the size of its quick run."""

import json
import os
import subprocess
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


def ask_with_captures(ask, build, wanted, folder):
    """Runs `ask` with --capture FILE for each launch, which stays in `folder` if one is given. Returns its exit code."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = folder or scratch
        os.makedirs(folder, exist_ok=True)
        for path, *arguments in programs(wanted):
            for file in capture(build, path, arguments, folder):
                ask = [*ask, "--capture", file]
        return subprocess.run(ask, check=False).returncode
