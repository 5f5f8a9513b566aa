#!/usr/bin/env python3
"""Checks that the manual's links lead somewhere, that what it names is there, and that its lines can be read.

usage: scripts/check_docs.py [--root DIR]

Of every Markdown file: links resolve, headings they name too; a path of the repository between backticks exists; lines
have 120 columns at most, tables, code and what check_examples.py reads aside. A document that a source file cites (docs/NAME.md) exists.
Exit codes: 0 in order, 1 not (one line a finding, file:line: text), 2 usage.
"""

import argparse
import os
import re
import sys

MAX_COLUMNS = 120
ROOMS = ("advice", "analysis", "base", "bench", "choosing", "cmake", "cuda", "docs", "driver_gen", "emulator", "include/trimtab",
         "model", "opencl", "pass", "pipeline", "profiler", "ptx", "runtime", "samples", "sass", "schedule", "scripts", "tests",
         "tools")
SOURCE_SUFFIXES = (".h", ".cpp", ".c", ".cu", ".cuh", ".py", ".sh", ".txt", ".cmake")

LINK = re.compile(r"\]\(([^)\s]+)\)")  # the text before it may have begun on the line above
CODE_SPAN = re.compile(r"`([^`]+)`")
PATH = re.compile(rf"(?:{'|'.join(ROOMS)})/[\w+./-]*")
CITED = re.compile(r"\bdocs/[\w/-]+\.md")


def files(root, suffixes):
    for directory, children, names in os.walk(root):
        children[:] = sorted(c for c in children if not c.startswith((".", "build")) and c != "data")
        for name in sorted(names):
            if name.endswith(suffixes):
                path = os.path.join(directory, name)
                yield os.path.relpath(path, root), path


def lines_of(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()


def prose(lines):
    """(number, line) of what is neither table nor code."""
    fenced, in_list, after_blank, in_code = False, False, True, False
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            fenced = not fenced
            continue
        if re.match(r"\s*([-*]|\d+\.)\s", line) and not in_code:
            in_list = True
        elif line and not line.startswith(" "):
            in_list = False
        in_code = line.startswith("    ") and not in_list and (after_blank or in_code)
        after_blank = not line.strip()
        if not fenced and not in_code and not line.startswith(("|", "<!-- checked")):
            yield number, line


def anchors(path):
    """As forges name headings: lower case, spaces as -, punctuation left out."""
    headings = (line.lstrip("#").strip() for _, line in prose(lines_of(path)) if line.startswith("#"))
    return {re.sub(r"[^\w\s-]", "", heading).lower().replace(" ", "-") for heading in headings}


def check_link(path, target):
    if re.match(r"[a-z]+:", target):
        return None
    place, _, anchor = target.partition("#")
    document = os.path.normpath(os.path.join(os.path.dirname(path), place)) if place else path
    if not os.path.exists(document):
        return f"the link leads to '{target}', which is not there"
    if anchor and document.endswith(".md") and anchor not in anchors(document):
        return f"no heading of '{place or os.path.basename(path)}' is '#{anchor}'"
    return None


def check_document(root, name, path):
    lines = lines_of(path)
    for number, line in enumerate(lines, 1):
        for target in LINK.findall(CODE_SPAN.sub("", line)):
            if finding := check_link(path, target):
                yield f"{name}:{number}: {finding}"
        for span in CODE_SPAN.findall(line):
            if PATH.fullmatch(span) and not os.path.exists(os.path.join(root, span)):
                yield f"{name}:{number}: there is no {span}"
    for number, line in prose(lines):
        if len(line) > MAX_COLUMNS:
            yield f"{name}:{number}: {len(line)} columns, more than {MAX_COLUMNS}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    root = parser.parse_args().root
    findings, documents = [], 0
    for name, path in files(root, (".md",)):
        documents += 1
        findings += check_document(root, name, path)
    for name, path in files(root, SOURCE_SUFFIXES):
        for number, line in enumerate(lines_of(path), 1):
            findings += [f"{name}:{number}: there is no {cited}" for cited in CITED.findall(line)
                         if not os.path.exists(os.path.join(root, cited)) and "NAME.md" not in cited]
    if not documents:
        parser.error(f"no documents under {root}")
    print("\n".join(findings) if findings else f"check_docs: {documents} documents in order")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
