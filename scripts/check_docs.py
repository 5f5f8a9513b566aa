#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that the manual's links lead somewhere, that what it names is there, and that its lines can be read.

usage: scripts/check_docs.py [--root DIR]

Of every Markdown file: links resolve, headings they name too; a path of the repository between backticks exists; lines
have 120 columns at most, tables, code and what check_examples.py reads aside. A document that a source file cites (docs/NAME.md) exists.
Pages that were rewritten in plain words (PLAIN_PAGES, a list that grows) also keep to them: no sentence has more than 30
words, and none of NOT_PLAIN's is used. Code, and what stands between backticks, is left alone.
--sentences prints how long each page's sentences are, and checks nothing.
Exit codes: 0 in order, 1 not (one line a finding, file:line: text), 2 usage.
"""

import argparse
import os
import re
import sys

MAX_COLUMNS = 120
ROOMS = ("bench", "choosing", "cmake", "core", "docs", "driver_gen", "emulation", "include/trimtab", "pass", "pipeline", "profiler",
         "runtime", "samples", "scripts", "tests", "tools")
SOURCE_SUFFIXES = (".h", ".cpp", ".c", ".cu", ".cuh", ".py", ".sh", ".txt", ".cmake")

LINK = re.compile(r"\]\(([^)\s]+)\)")  # the text before it may have begun on the line above
CODE_SPAN = re.compile(r"`([^`]+)`")
PATH = re.compile(rf"(?:{'|'.join(ROOMS)})/[\w+./-]*")
CITED = re.compile(r"\bdocs/[\w/-]+\.md")

PLAIN_PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "samples/README.md",
               *(f"docs/{page}.md" for page in (
                   "README", "abstract-emulation", "advice", "annotations", "bench", "calibrate", "captures", "checks",
                   "command-line", "compatibility", "continuous-integration", "cuda-python", "devices", "faq", "how-it-works",
                   "learning", "legality", "limits", "machine-code", "model", "opencl", "other-systems", "profile", "pruning",
                   "python", "reading-an-inspect", "start", "suggest", "troubleshooting", "tuners", "tutorial-advice",
                   "tutorial-annotation", "validating-on-a-gpu", "variants", "will-it-help", "workers")))
MAX_WORDS = 30
# What to write instead. Words are matched whole, letter case aside.
NOT_PLAIN = {re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE): better for pattern, better in {
    r"tells?|told": "report, print, say",
    r"mend(?:s|ed|ing)?": "fix",
    r"wins?|won": "gain",
    r"turns? of (?:a|the) loop": "iteration",
    r"goes? out as|went out as|going out as": "launched as",
    r"plays? (?:that|the|a) GPU|GPU it plays|GPU that it plays": "emulates",
    r"rooms?": "folder",
    r"built in|is none of": "hard-coded, is not",
    r"in (?:the|its|their|whose) place(?: of)?": "instead of",
    r"beside": "alongside, in addition to, next to",
    r"what is [^.;:]{1,60} is": "name the actor",
    r"whatever": "if ..., any",
    r"save(?:s|d)? that|but for|be it": "except",
    r"alone(?=[.,;:)]|$)": "only, before its word",
    r"sectors a request|threads a block|bytes a thread|(?:line|file|one) a (?:launch|kernel|GPU)": "per",
    r"hence|thus|thereof|therein|anew|aright|of its own accord": "a plainer word",
}.items()}


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


def prose(lines, tables=False):
    """(number, line) of what is neither code nor, unless `tables`, a table."""
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
        left_out = ("<!-- checked",) if tables else ("|", "<!-- checked")
        if not fenced and not in_code and not line.startswith(left_out):
            yield number, line


def anchors(path):
    """As forges name headings: lower case, spaces as -, punctuation left out."""
    headings = (line.lstrip("#").strip() for _, line in prose(lines_of(path)) if line.startswith("#"))
    return {re.sub(r"[^\w\s-]", "", heading).lower().replace(" ", "-") for heading in headings}


def without_code(line):
    """Prose only: what stands between backticks counts as one word, and a link is its text."""
    return re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "`x`", line))


def sentences(lines):
    """(number of the first line, words) of each sentence; headings and tables aside, items of a list each by themselves."""
    paragraphs, last = [], None
    for number, line in prose(lines):
        if not line.strip() or line.startswith(("#", "<", "!")):
            last = None
            continue
        if last is None or last != number - 1 or re.match(r"\s*([-*]|\d+\.)\s", line):
            paragraphs.append([])
        paragraphs[-1].append((number, without_code(line)))
        last = number
    for paragraph in paragraphs:
        words = [(number, word) for number, line in paragraph for word in re.sub(r"^\s*([-*]|\d+\.)\s", "", line).split()]
        begun = []
        for at, (number, word) in enumerate(words):
            begun.append((number, word))
            # A sentence ends before a capital, a number or a link, not in "e.g." or "..."; so it does where a list or code follows.
            following = words[at + 1][1] if at + 1 < len(words) else ""
            if not following or re.search(r"(?<!\be\.g)(?<!\.\.)[.!?][)*_]*$", word) and re.match(r"[\[(*_`]*[A-Z0-9`\[]", following):
                yield begun[0][0], [one for _, one in begun if re.search(r"\w", one)]
                begun = []


def check_plain(name, lines):
    for number, words in sentences(lines):
        if len(words) > MAX_WORDS:
            yield f"{name}:{number}: a sentence of {len(words)} words, more than {MAX_WORDS}: {' '.join(words[:6])} ..."
    for number, line in prose(lines, tables=True):
        for pattern, better in NOT_PLAIN.items():
            if found := pattern.search(without_code(line)):
                yield f"{name}:{number}: '{found.group()}': write plainly ({better})"


def print_sentences(root):
    for name, path in files(root, (".md",)):
        lengths = [len(words) for _, words in sentences(lines_of(path))]
        if lengths:
            past = sum(length > MAX_WORDS for length in lengths)
            print(f"{name}: {len(lengths)} sentences, {sum(lengths) / len(lengths):.1f} words on the mean, {max(lengths)} at most, "
                  f"{past} ({100 * past / len(lengths):.0f} %) past {MAX_WORDS}")


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
    if name in PLAIN_PAGES:
        yield from check_plain(name, lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser.add_argument("--sentences", action="store_true", help="print how long the pages' sentences are")
    options = parser.parse_args()
    root = options.root
    if options.sentences:
        print_sentences(root)
        return 0
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
