# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/papers.md, from the JSON of run.py."""

from item import figure, off

HEADINGS = {
    "klaraptor": "KLARAPTOR (Brandt et al., 2019)",
    "saake": "SAAKE (Hong et al., PLDI 2018)",
    "gpuperf": "GPUPerf (Sim et al., PPoPP 2012)",
    "pruning": "Work-group pruning (Wang et al., IEEE TPDS 2020)",
    "gehrke": "A semi-automated analysis framework (Gehrke, thesis, 2015)",
}
HEAD = """# The papers' figures again

<!-- Written by bench/papers/run.py --document docs/papers.md from bench/papers/results.json: change those. -->

Trimtab builds on five works. This page shows tables and figures of theirs, with Trimtab's answers to the same
questions. `bench/papers/run.py PAPER.ITEM` repeats one item.

- *Paper* is the paper's number. If the paper only has a plot or a sentence, the sentence stands there.
- *Ours* comes from this repository's commands, without a GPU. Times of GPUs are emulated or predicted, unless a row
  says measured. The kernels are written from the mathematics, so they are other programs than the papers'.
- *Off* is ours over the paper's, less 1. For shares of a whole it is the difference in points. A row that misses by
  more than 25 % says why, as far as that is known.
"""


def cell(text):
    return text.replace("|", "\\|")


def section(name, item):
    lines = [f"### {item.title}", "", f"`bench/papers/run.py {name}`", ""]
    for note in item.notes:
        lines += [*wrapped(note), ""]
    with_paper = any(row.paper is not None or row.says for row in item.rows)
    with_why = any(row.why for row in item.rows)
    heads = ["", *(["paper"] if with_paper else []), "ours", *(["off"] if with_paper else []), *(["why"] if with_why else [])]
    lines += ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    for row in item.rows:
        ours = figure(row.ours, row.unit) or "none"
        cells = [row.what, *([row.says or figure(row.paper, row.unit)] if with_paper else []), ours,
                 *([off(row)] if with_paper else []), *([row.why] if with_why else [])]
        lines.append("| " + " | ".join(map(cell, cells)) + " |")
    return lines + [""]


def wrapped(text, columns=120):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > columns:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return lines + [line]


def page(results):
    lines = HEAD.splitlines() + [""]
    for paper, heading in HEADINGS.items():
        items = {name: item for name, item in results.items() if name.startswith(paper + ".")}
        if items:
            lines += [f"## {heading}", ""]
        for name, item in items.items():
            lines += section(name, item)
    return "\n".join(lines).rstrip() + "\n"
