#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names the licence in every source file: one line, the first, or the second below "#!".

usage: scripts/spdx.py [--check] [--root DIR]

Adds the line where it is missing; a second run changes nothing. --check only names the files that lack it.
Left out, because their lines are counted or their bytes compared:
  - files under data/ and a fuzzer's corpus, which tests read as they are;
  - samples/, and kernels of tests and benchmarks: the manual and the tests name their lines;
  - driver_gen/*.inc, whose text is copied into every generated driver program;
  - what others wrote (Vega).
Exit codes: 0 every file names it (or does now), 1 --check found some that do not, 2 usage.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

LINE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
SLASHES = {".h", ".cpp", ".c", ".inc", ".cu", ".cuh", ".js"}
HASHES = {".py", ".sh", ".cmake", ".in"}
HASHED_NAMES = {"CMakeLists.txt", ".ci/run"}
OF_OTHERS = re.compile(r"(^|/)trimtab/page/vega.*\.js$")
UNCHANGED = re.compile(r"(^|/)data/|^tests/fuzz/corpus/|^samples/|^tests/programs/|(^|/)driver_gen/[^/]*\.inc$")
OUTER = re.compile(r"^(tests|bench)/")
DEVICE_CODE = re.compile(r"\b__(global|device)__\b")


def sources(root):
    """Files that git has or would take, else all of the folder: paths below the root."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.split("\0")
    else:
        names = []
        for folder, children, files in os.walk(root):
            children[:] = [child for child in children if not child.startswith(("build", ".git", ".toolchain"))]
            names += [os.path.relpath(os.path.join(folder, file), root) for file in files]
    return sorted({name for name in names if name and comment_of(name) and (root / name).is_file()})


def comment_of(name):
    """How a comment begins in that file; None where it gets no line."""
    suffix = pathlib.PurePosixPath(name).suffix
    if UNCHANGED.search(name) or OF_OTHERS.search(name) or OUTER.search(name) and suffix in (".cu", ".cuh"):
        return None
    if suffix in SLASHES:
        return "//"
    return "#" if suffix in HASHES or pathlib.PurePosixPath(name).name in HASHED_NAMES or name in HASHED_NAMES else None


def is_kernel(name, text):
    """A header of kernels of tests and benchmarks: as with theirs, its lines are named."""
    return bool(OUTER.search(name)) and name.endswith((".h", ".inc")) and DEVICE_CODE.search(text) is not None


def with_line(name, text):
    """The text with the line; the same where it has it."""
    head = text.split("\n", 2)[:2]
    if any(LINE in line for line in head):
        return text
    line = f"{comment_of(name)} {LINE}\n"
    if text.startswith("#!"):
        first, _, rest = text.partition("\n")
        return f"{first}\n{line}{rest}"
    return line + text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a file lacks the line")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args()
    missing, count = [], 0
    for name in sources(options.root):
        path = options.root / name
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        if is_kernel(name, text):
            continue
        count += 1
        changed = with_line(name, text)
        if changed != text:
            missing.append(name)
            if not options.check:
                path.write_bytes(changed.encode("utf-8", "surrogateescape"))
    if not count:
        parser.error(f"no sources under {options.root}")
    if options.check and missing:
        print("\n".join(f"{name}: names no licence; run scripts/spdx.py" for name in missing))
        return 1
    print(f"spdx: {count} files name the licence" + (f", {len(missing)} of them since now" if missing else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
