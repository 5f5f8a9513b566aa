#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands that the manual shows, and compares what they print with what it says.

usage: check_examples.py --bin DIR [--root DIR] [--modelled] [PAGE.md...]

Checked are the blocks of code below a comment in the Markdown

    <!-- checked -->
    <!-- checked within 30 %, modelled -->
    <!-- checked after: trimtab++ -O3 samples/more/tiled_matmul.cu -o tiled_matmul -->

(the command after the colon is run before, and not shown). In such a block a line "$ COMMAND" is run by bash, in a
folder of the page's own in which `samples` is the repository's; the lines below it must be what it prints, in order,
on stdout or stderr. "..." stands for anything, over several lines where it stands alone. Numbers may differ by 2 %, or
by as much as the comment says; seconds that something took here, and hashes of 16 digits, by anything.
Blocks that are "modelled" hold times and choices that change with the model: they are run with --modelled alone.
Commands of Trimtab's in any block of code, checked or not, must be subcommands that there are, with options that they have.
Exit codes: 0 all is as the manual says, 1 not (one line a finding, page:line: text), 2 usage.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MARK = re.compile(r"<!-- checked(?: within (\d+) %)?(,? modelled)?(?: after: (.*?))? -->")
# Behind a prompt, variables, and what starts it elsewhere.
COMMAND = re.compile(r"\s*(?:- )?(?:\$ )?(?:[A-Z_]+=\S* )*(?:salloc (?:-\S+ \S+ )*)?(trimtab(?:\+\+)?)(?![\w.+:-])(.*)")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
# Of this machine and moment: how long something took, what is hashed of sources.
MOMENT = re.compile(r"\b\d+(?:\.\d+)? s\b|\b[0-9a-f]{16}\b|\b[0-9a-f]{8}\b(?=$|\s)")


def blocks(text, modelled=True):
    """(line number, share that numbers may differ by, command before, lines) of each block that is checked."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        found = MARK.fullmatch(line.strip())
        if found and (modelled or not found.group(2)):
            end = number + 1
            while end < len(lines) and not lines[end].startswith("    "):
                end += 1
            begin = end
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            yield begin + 1, float(found.group(1) or 2) / 100, found.group(3), [one[4:] for one in lines[begin:end]]


def commands(lines):
    """(offset, command, what it prints) of a block."""
    found = []
    for offset, line in enumerate(lines):
        if line.startswith("$ "):
            found.append((offset, [line[2:]], []))
        elif found and not found[-1][2] and found[-1][1][-1].endswith("\\"):
            found[-1][1].append(line)
        elif found:
            found[-1][2].append(line)
    return [(offset, "\n".join(words), [line for line in said if line.strip()]) for offset, words, said in found]


def shown_commands(text):
    """(line number, the tool, subcommands, options) of each command of Trimtab's in the blocks of code."""
    lines, fenced, before_blank = text.splitlines(), False, True
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            fenced = not fenced
        is_code = fenced or line.startswith("    ")
        if not is_code:
            continue
        following = number
        while line.endswith("\\") and following < len(lines):
            line = line.rstrip("\\") + lines[following]
            following += 1
        line = re.sub(r"'[^']*'|\"[^\"]*\"", " ", line.split("  #")[0])
        found = COMMAND.match(line)
        if not found:
            continue
        tool, rest = found.group(1), found.group(2)
        if "[" not in rest:  # what is the program's own; a synopsis may go on behind it
            rest = re.split(r" -- ", rest)[0]
        options = re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", rest)
        if tool == "trimtab++":
            yield number, tool, [], [option for option in options if option.startswith("--trimtab-") and option[-1] != "-"]
        elif re.match(r" +[a-z]", rest):
            yield number, tool, rest.split()[0].split("|"), options


def unknown(text, help_of):
    """(line number, what is wrong) of such commands; `help_of`: a tool's help, and a subcommand's; empty where there is none."""
    for number, tool, subcommands, options in shown_commands(text):
        texts = [help_of(tool, name) for name in subcommands] or [help_of(tool, None)]
        if missing := [name for name, text in zip(subcommands, texts) if not text]:
            yield number, f"there is no {tool} {missing[0]}"
            continue
        for option in options:
            if not any(re.search(rf"(?<![\w-]){option}(?![\w-])", text) for text in texts):
                yield number, f"{' '.join([tool, *subcommands])} has no {option}"


def is_as(expected, actual, share):
    """One line. Text must be equal but for "...", numbers near."""
    pattern, values, at = "", [], 0
    expected, actual = (MOMENT.sub("<moment>", text.rstrip()) for text in (expected, actual))
    for found in re.finditer(rf"\.\.\.|{NUMBER.pattern}", expected):
        pattern += re.escape(expected[at:found.start()])
        if found.group() == "...":
            pattern += ".*"
        else:
            pattern += f"({NUMBER.pattern})"
            values.append(float(found.group()))
        at = found.end()
    matched = re.fullmatch(pattern + re.escape(expected[at:]), actual)
    return matched is not None and all(abs(float(got) - value) <= share * abs(value) + 1e-12
                                       for got, value in zip(matched.groups(), values))


def first_missing(expected, actual, share):
    """The first of the expected lines that does not come, in order; None where all do."""
    at = 0
    for line in expected:
        if line.strip() == "...":
            continue
        while at < len(actual) and not is_as(line, actual[at], share):
            at += 1
        if at == len(actual):
            return line
        at += 1
    return None


def check(page, root, environment, modelled):
    with tempfile.TemporaryDirectory(prefix="trimtab-examples-") as folder:
        os.symlink(root / "samples", pathlib.Path(folder) / "samples")
        environment = environment | {"XDG_CACHE_HOME": os.path.join(folder, "cache")}
        def run(command):
            # What a program writes stands where it would on a terminal.
            return subprocess.run(["stdbuf", "-oL", "bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600, check=False)
        for number, share, before, lines in blocks(page.read_text(), modelled):
            if before:
                done = run(before)
                if done.returncode != 0:
                    yield number, f"{before}: {done.stdout.strip()}"
            for offset, command, expected in commands(lines):
                actual = run(command).stdout.splitlines()
                missing = first_missing(expected, actual, share)
                if missing is not None:
                    yield number + offset, f"$ {command}: does not print\n    {missing}\n  but\n    " + "\n    ".join(actual)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, help="the folder with the programs")
    parser.add_argument("--root", default=str(pathlib.Path(__file__).resolve().parent.parent))
    parser.add_argument("--modelled", action="store_true", help="blocks with the model's times and choices too")
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()
    root = pathlib.Path(options.root).resolve()
    pages = [pathlib.Path(page).resolve() for page in options.pages] or [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRIMTAB")}
    environment["PATH"] = os.path.abspath(options.bin) + os.pathsep + environment["PATH"]
    findings, count = 0, 0
    helps = {}
    def help_of(tool, subcommand):
        if (tool, subcommand) not in helps:
            words = [tool, *([subcommand] if subcommand else []), "--help"]
            done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
            helps[tool, subcommand] = done.stdout if done.returncode == 0 else ""
        return helps[tool, subcommand]
    for page in pages:
        for line, text in unknown(page.read_text(), help_of):
            findings += 1
            print(f"{os.path.relpath(page, root)}:{line}: {text}")
        count += sum(len(commands(lines)) for *_, lines in blocks(page.read_text(), options.modelled))
        for line, text in check(page, root, environment, options.modelled):
            findings += 1
            print(f"{os.path.relpath(page, root)}:{line}: {text}")
    if count == 0:
        parser.error("no commands are checked there")
    print(f"check_examples: {count} commands, {findings} print something else")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
