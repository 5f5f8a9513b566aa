#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One question has one answer: what `trimtab select --grid --block` says of a launch is what the runtime made of it.

usage: select_agrees.py BUILD SAMPLES [--all] [SAMPLE...]

Every sample of SAMPLES/programs.txt is built with BUILD/bin/trimtab++ and run at a size on an emulated device, in turn
one of two each; with --all at both sizes on both. Each different launch of its report (at most MOST of a run) is asked
of select. Exit codes: 0 they agree, 1 they do not.
"""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

MOST = 8
BUILD_ONCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build_once.sh")
DEVICES = ["rtx2070super", "c2075"]


def launches(report):
    """The different launches of a report that D tells apart."""
    seen = {}
    with open(report, encoding="utf-8") as lines:
        for line in lines:
            launch = json.loads(line)
            # Members of structures have no name on the command line.
            if all("+" not in name for name in launch["data"]):
                key = json.dumps([launch["kernel"], launch["data"], launch["written"]])
                if not launch["remembered"]:
                    seen.setdefault(key, launch)
    return list(seen.values())


def ask(build, program, device, launch):
    command = [f"{build}/bin/trimtab", "select", program, "--kernel", launch["kernel"], "--device", device, "--json"]
    for name in ("grid", "block"):
        command += [f"--{name}", ",".join(map(str, launch["written"][name]))]
    command += [f"--arg={name}={value:.17g}" for name, value in launch["data"].items() if not name.startswith("extent.")]
    done = subprocess.run(command, capture_output=True, text=True)
    chosen = json.loads(done.stdout)["chosen"] if done.returncode == 0 else None
    return command, chosen, done.stderr.strip()


def main():
    build, samples, *wanted = [argument for argument in sys.argv[1:] if argument != "--all"]
    asked, bad = 0, 0
    with open(os.path.join(samples, "programs.txt"), encoding="utf-8") as file:
        programs = [line.split() for line in file if line.strip() and not line.startswith("#")]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        for number, (source, first, *rest) in enumerate(programs):
            name = os.path.splitext(os.path.basename(source))[0]
            if wanted and name not in wanted:
                continue
            runs = [(device, size) for device in DEVICES for size in (int(first), int(first) * 3 // 2)]
            if "--all" not in sys.argv:
                runs = [runs[number % len(runs)]]
            report = os.path.join(folder, name + ".jsonl")
            built = subprocess.run([BUILD_ONCE, build, os.path.join(samples, source)], check=True, stdout=subprocess.PIPE,
                                   text=True).stdout.strip()
            program = os.path.join(built, name)
            for device, size in runs:
                if os.path.exists(report):
                    os.remove(report)
                environment = dict(os.environ, TRIMTAB_DEVICE=device, TRIMTAB_REPORT=report)
                subprocess.run([program, str(size), *rest], env=environment, check=True, capture_output=True)
                found = launches(report)[:MOST]
                answers = pool.map(lambda launch: ask(build, program, device, launch), found)
                for launch, (command, chosen, error) in zip(found, answers):
                    asked += 1
                    # Where the kernel's driver program is missing, select has nothing to say.
                    if chosen == launch["chosen"] or (chosen is None and launch["by"] == "unchanged"):
                        continue
                    bad += 1
                    print(" ".join(command), "\n  says", chosen, error, "\n  the runtime", json.dumps(launch))
    print(f"{asked} launches asked, {bad} answered otherwise than by the runtime")
    return 1 if bad or asked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
