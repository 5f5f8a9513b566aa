#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files of earlier releases are read, and those of releases to come are refused with one line (docs/compatibility.md).

usage: read_files.py BUILD SOURCES

Each folder of data/ is a release, made by make_files.sh. Exit codes: 0 all is read, 1 something is not.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BUILD, SOURCES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
DATA = pathlib.Path(__file__).resolve().parent / "data"
failures = []


def expect(is_so, what):
    if not is_so:
        failures.append(what)
        print(f"read_files: {what}")


def run(*words, status=0, **variables):
    environment = {**os.environ, **variables}
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=environment)
    expect(done.returncode == status, f"{' '.join(map(str, words))}: status {done.returncode}, not {status}: {done.stderr}")
    return done


def trimtab(*words, **options):
    return run(BUILD / "bin/trimtab", *words, **options)


def check_object(release, work):
    kernels = json.loads(trimtab("inspect", release / "saxpy.o", "--json").stdout)["kernels"]
    kept = json.loads((release / "verdicts.json").read_text())
    now = [{name: one["description"][name] for name in ("name", "verdict", "data")} for one in kernels]
    expect(now == kept, f"{release.name}: inspect says {now}, and said {kept}")

    kept = json.loads((release / "select.json").read_text())
    now = json.loads(trimtab("select", release / "saxpy.o", "--kernel", "saxpy", "--device", "rtx2070super", "--extent",
                             "1048576", "--arg", "n=1000000", "--json").stdout)
    kept, now = ({(one["bx"], one["by"], one["bz"]): one["metrics"] for one in answer["ranking"]} for answer in (kept, now))
    expect(kept.keys() == now.keys(), f"{release.name}: other blocks are legal")
    for block, metrics in kept.items():
        for name, value in metrics.items():
            again = now.get(block, {}).get(name)
            close = again is not None and abs(again - value) <= 1e-9 * max(1, abs(value))
            expect(close, f"{release.name}: {name} of {block} is {again}, and was {value}")

    program = work / "saxpy"
    run(BUILD / "bin/trimtab++", release / "saxpy.o", "-o", program)
    report = work / "report.jsonl"
    shutil.copy(release / "choices.sqlite", work / "choices.sqlite")
    done = trimtab("run", "--device", "rtx2070super", "--report", report, "--", program, "1000000",
                   TRIMTAB_CHOICES=str(work / "choices.sqlite"))
    expect("PASS" in done.stdout, f"{release.name}: its program fails: {done.stdout}")
    expect("trimtab:" not in done.stderr, f"{release.name}: {done.stderr}")
    line = json.loads(report.read_text().splitlines()[0])
    expect(line["chosen"]["block"] != line["written"]["block"], f"{release.name}: its launch is not chosen: {line}")
    return program


def check_answers(release, work, program):
    done = run("env", "-C", work, BUILD / "bin/trimtab", "advise", "--device", "h100", "--against", release / "advice.json",
               "--", "./" + program.name, "1000000")
    expect("saxpy" in done.stdout, f"{release.name}: advise --against says {done.stdout}")
    done = run(BUILD / "bin/trimtab++", "-O2", SOURCES / "tests/suggest/shared_kernels.cu", "-o", work / "sums",
               "--trimtab-profile=off", f"--trimtab-annotations={release / 'annotations.json'}")
    expect("warning" not in done.stderr, f"{release.name}: its annotations: {done.stderr}")
    device = json.loads(trimtab("devices", release / "device.json", "--json").stdout)
    expect(device["slug"] == "h100", f"{release.name}: its device is {device['slug']}")


def refused(path, *words):
    done = trimtab(*words, status=3)
    lines = done.stderr.strip().splitlines()
    expect(len(lines) == 1 and path.name in lines[0], f"{' '.join(map(str, words))}: not one line with its name: {lines}")


def check_later_versions(release, work, program):
    """What a release to come may write is known not to be ours."""
    made = {}
    for name, old, new in (("annotations.json", '"trimtab_annotations": 1', '"trimtab_annotations": 99'),
                           ("advice.json", '"advice": 1', '"advice": 99'), ("device.json", '"schema": 1', '"schema": 99')):
        text = (release / name).read_text()
        expect(old in text, f"{release.name}/{name}: no {old}")
        made[name] = work / f"later_{name}"
        made[name].write_text(text.replace(old, new))
    refused(made["device.json"], "devices", made["device.json"])
    refused(made["advice.json"], "advise", "--device", "h100", "--against", made["advice.json"], "--", program, "1000000")
    done = run(BUILD / "bin/trimtab++", "-c", SOURCES / "samples/more/saxpy.cu", "-o", work / "no.o",
               f"--trimtab-annotations={made['annotations.json']}", status=3)
    expect(made["annotations.json"].name in done.stderr, f"annotations of a later version: {done.stderr}")

    later = work / "later.o"
    later.write_bytes((release / "saxpy.o").read_bytes().replace(b"TRIMTAB2", b"TRIMTAB9"))
    refused(later, "inspect", later)


def main():
    releases = sorted(path for path in DATA.iterdir() if path.is_dir())
    expect(bool(releases), "no release in data/")
    for release in releases:
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            os.environ["XDG_CACHE_HOME"] = str(work / "cache")
            program = check_object(release, work)
            check_answers(release, work, program)
            if release == releases[-1]:
                check_later_versions(release, work, program)
    return 1 if failures else 0


sys.exit(main())
