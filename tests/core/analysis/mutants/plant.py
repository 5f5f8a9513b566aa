#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants mistakes in the proof, one at a time, and says after how many generated kernels each is met.

    tests/core/analysis/mutants/plant.py --build build [--only NAME ...] [--kernels N] [--kept FOLDER]

Each entry of mistakes.toml replaces one piece of text in a copy of one file of core/analysis/. That file alone is compiled,
and linked before the library into analysis_kernel_search, which then launches the kernels of which it says something
else than the proof as it is. Exits with 1 if a mistake is not met, or no longer applies.
"""
import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import typing

SLOW_KINDS = ("blocks", "exchanges", "planes")
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[3]


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


class Build:
    """The commands that make the search, of the build's own."""

    def __init__(self, folder):
        self.folder = folder
        made = run(["ninja", "-C", folder, "analysis_kernel_search"])
        if made.returncode != 0:
            sys.exit(f"analysis_kernel_search does not build:\n{made.stdout[-3000:]}")
        lines = run(["ninja", "-C", folder, "-t", "commands", "analysis_kernel_search"]).stdout.splitlines()
        self.link = shlex.split(lines[-1].removeprefix(": && ").removesuffix(" && :"))
        self.compile = {}
        for line in lines:
            words = shlex.split(line)
            if "-c" in words:
                self.compile[os.path.realpath(words[words.index("-c") + 1])] = words

    def object_of(self, source, changed, to):
        """An error's text, or nothing."""
        command = list(self.compile[os.path.realpath(source)])
        command[command.index("-c") + 1] = str(changed)
        command[command.index("-o") + 1] = str(to)
        for option in ("-MF", "-MT"):
            if option in command:
                command[command.index(option) + 1] = str(to) + ".d"
        made = run([*command, "-w"], cwd=self.folder)
        return made.stderr if made.returncode != 0 else ""

    def link_with(self, changed, to):
        command = list(self.link)
        command[command.index("-o") + 1] = str(to)
        first = next(i for i, word in enumerate(command) if word.endswith(".a"))
        command.insert(first, str(changed))
        made = run(command, cwd=self.folder)
        return made.stderr if made.returncode != 0 else ""


def search(program, kinds, options):
    """(whether there is a wrong one, what it printed last)"""
    found = run([str(program), "--kinds", ",".join(kinds), *options], timeout=3600)
    lines = [line for line in found.stdout.splitlines() if line]
    wrong = next((line for line in lines if line.startswith("wrong ")), "")
    if not wrong and found.returncode != 0:
        return True, f"crashed: {(lines or ['?'])[-1]} {found.stderr[-200:]}"
    return bool(wrong), wrong or (lines or ["?"])[-1]


class Planted:
    """One mistake, and the program that has it."""

    def __init__(self, mistake, build, folder):
        self.mistake, self.skipped, self.seen, self.problem = mistake, [], {}, None
        self.tried = []
        source = ROOT / mistake["file"]
        text = source.read_text()
        if (count := text.count(mistake["from"])) != 1:
            self.problem = "no longer applies", f"its text occurs {count} times in {mistake['file']}"
            return
        changed, made = folder / source.name, folder / (source.stem + ".o")
        self.program = folder / ("search-" + "".join(c if c.isalnum() else "_" for c in mistake["name"]))
        changed.write_text(text.replace(mistake["from"], mistake["to"]))
        if error := build.object_of(source, changed, made):
            self.problem = "does not compile", error.strip()[:600]
        elif error := build.link_with(made, self.program):
            self.problem = "does not link", error.strip()[:600]

    def look(self, stage, verdicts, unchanged):
        """What was found by kernels of the stage, or nothing."""
        if not (kinds := kinds_of(self.mistake, stage)):
            return ""
        options = stage.options()
        # What is decided at a launch shows in no verdict.
        if not self.mistake.get("at_launch", False):
            options += ["--verdicts", str(verdicts)]
        while True:
            found, line = search(self.program, kinds, [*options, *self.skipped])
            if not found:
                self.seen.update({kind: stage.last for kind in kinds})
                self.tried.append(line)
                return ""
            words = line.split()
            # One that is wrong without the mistake says nothing of it.
            if words[0] != "wrong" or not search(unchanged, [words[1]], ["--from", words[2], "--kernels", "1"])[0]:
                return line.split(": arguments")[0]
            self.skipped += ["--skip", f"{words[1]}:{words[2]}"]


class Stage(typing.NamedTuple):
    first: int
    last: int
    is_slow: bool

    def options(self):
        return ["--from", str(self.first), "--kernels", str(self.last + 1 - self.first)]


def kinds_of(mistake, stage):
    """Those that are due: proving is quick for most kinds, launching is not."""
    at_launch = mistake.get("at_launch", False)
    return [kind for kind in mistake["kinds"] if (at_launch or kind in SLOW_KINDS) == stage.is_slow]


def stages(kernels):
    """All of the quick kinds first; then a few of the slow ones, and more of them for mistakes that are left."""
    result, first = [Stage(1, kernels, False)], 1
    for last in (*(at for at in (80, 240, 800) if at < kernels), kernels):
        result.append(Stage(first, last, True))
        first = last + 1
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build"), help="build folder")
    parser.add_argument("--list", default=str(HERE / "mistakes.toml"), help="the mistakes")
    parser.add_argument("--only", nargs="*", default=[], help="names, or parts of names")
    parser.add_argument("--kernels", type=int, default=2000, help="kernels of each kind, at most")
    parser.add_argument("--minutes", type=float, default=600, help="time for all of them; the rest is not tried")
    parser.add_argument("--part", default="1/1", help="I/N: every Nth mistake from the Ith on")
    parser.add_argument("--kept", default="", help="folder for compiled kernels and verdicts, kept between runs")
    parser.add_argument("--check", action="store_true", help="only say which mistakes no longer apply")
    arguments = parser.parse_args()
    mistakes = tomllib.loads(pathlib.Path(arguments.list).read_text())["mistake"]
    if arguments.only:
        mistakes = [m for m in mistakes if any(part in m["name"] for part in arguments.only)]
    part, parts = map(int, arguments.part.split("/"))
    mistakes = mistakes[part - 1::parts]
    if arguments.check:
        stale = [m["name"] for m in mistakes if (ROOT / m["file"]).read_text().count(m["from"]) != 1]
        for name in stale:
            print(f"{name}: no longer applies")
        print(f"{len(mistakes)} mistakes, {len(stale)} no longer apply")
        return 1 if stale else 0
    build = Build(arguments.build)
    counts = {}

    def report(mistake, what, detail):
        if what == "not met" and "unmet" in mistake:
            what, detail = "known as not met", mistake["unmet"]
        counts[what] = counts.get(what, 0) + 1
        print(f"{mistake['name']}: {what}: {detail}", flush=True)

    with tempfile.TemporaryDirectory(prefix="trimtab-mutants-") as folder:
        scratch = pathlib.Path(folder)
        kept = pathlib.Path(arguments.kept or folder)
        kept.mkdir(parents=True, exist_ok=True)
        os.environ["TRIMTAB_GENERATED_KEPT"] = str(kept)
        verdicts, unchanged = scratch / "verdicts", scratch / "search-unchanged"
        shutil.copy2(pathlib.Path(arguments.build) / "bin" / "analysis_kernel_search", unchanged)
        left, end = [], time.monotonic() + 60 * arguments.minutes

        def write_verdicts(stage, of):
            kinds = sorted({kind for one in of for kind in kinds_of(one, stage) if not one.get("at_launch", False)})
            if kinds:
                search(unchanged, kinds, [*stage.options(), "--write", str(verdicts)])

        def look(planted, stage):
            if not (found := planted.look(stage, verdicts, unchanged)):
                return False
            report(planted.mistake, "met", found)
            planted.program.unlink()
            return True

        quick, *slow = stages(arguments.kernels)
        write_verdicts(quick, mistakes)
        for mistake in mistakes:
            if time.monotonic() > end:
                report(mistake, "not tried", "no time was left")
                continue
            planted = Planted(mistake, build, scratch)
            if planted.problem:
                report(mistake, *planted.problem)
            elif not look(planted, quick):
                left.append(planted)
        for stage in slow:
            if time.monotonic() < end:
                write_verdicts(stage, [one.mistake for one in left])
            for planted in list(left):
                if time.monotonic() < end and look(planted, stage):
                    left.remove(planted)
        for planted in left:
            seen = ", ".join(f"{count} {kind}" for kind, count in planted.seen.items())
            report(planted.mistake, "not met",
                   f"by {seen or 'no kernel: no time was left'} ({'; '.join(planted.tried)})")
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return 0 if set(counts) <= {"met", "known as not met"} else 1


if __name__ == "__main__":
    sys.exit(main())
