#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables and figures of the papers that Trimtab builds on, each beside what Trimtab gives.

usage: run.py [PAPER[.ITEM]]... [--build DIR] [--tables DIR] [--json FILE] [--document FILE] [--list]
       run.py --check [PAPER.ITEM]...

An item is a file PAPER/ITEM.py. --json replaces the items that were run in FILE and keeps its others; --document writes
the page from that file (bench/papers/results.json if none is given), after what was run. --check runs the items given,
writes nothing, and compares with results.json (within 2 %, times of this machine aside) and that with docs/papers.md.
Exit codes: 0 done, 1 a row misses by more than 25 % and no reason stands beside it, or --check found a difference, 2 usage,
3 an item's program failed.
"""

import argparse
import dataclasses
import importlib.util
import json
import os
import sys

from document import page
from item import Item, Row, figure, off
from trimtab import HERE, ROOT, Missing, Trimtab

PAPERS = ("klaraptor", "saake", "gpuperf", "pruning", "gehrke")
RESULTS = os.path.join(HERE, "results.json")
PAGE = os.path.join(ROOT, "docs", "papers.md")
SAME = 0.02


def names():
    return [f"{paper}.{file[:-3]}" for paper in PAPERS for file in sorted(os.listdir(os.path.join(HERE, paper)))
            if file.endswith(".py") and not file.startswith("_")]


def module_of(name):
    paper, item = name.split(".")
    folder = os.path.join(HERE, paper)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(f"{paper}_{item}", os.path.join(folder, item + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def print_item(name, item):
    print(f"{name}: {item.title}")
    for row in item.rows:
        print(f"  {row.what}: paper {row.says or figure(row.paper, row.unit) or 'no number'}, ours "
              f"{figure(row.ours, row.unit) or 'none'}{f' ({off(row)})' if off(row) else ''}{f': {row.why}' if row.why else ''}")
    for note in item.notes:
        print(f"  {note}")


def read_results(path):
    if not os.path.exists(path):
        return {}
    with open(path) as file:
        return {name: Item(one["title"], [Row(**row) for row in one["rows"]], one["notes"])
                for name, one in json.load(file).items()}


def ordered(results):
    return {name: results[name] for name in names() if name in results}


def write_results(path, results):
    with open(path, "w") as file:
        json.dump({name: dataclasses.asdict(item) for name, item in ordered(results).items()}, file, indent=1)
        file.write("\n")


def differences(name, now, kept):
    """Lines, one for each row that another run gave otherwise."""
    if kept is None:
        return [f"{name} is not in results.json"]
    if [row.what for row in now.rows] != [row.what for row in kept.rows]:
        return [f"{name} has other rows than results.json"]
    return [f"{name}: {new.what}: {new.ours}, in results.json {old.ours}" for new, old in zip(now.rows, kept.rows)
            if not new.timed and (new.ours is None) != (old.ours is None)
            or not new.timed and new.ours is not None and abs(new.ours - old.ours) > SAME * max(abs(old.ours), 1e-9)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("item", nargs="*")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--tables", default=os.environ.get("TRIMTAB_MEASURED_TABLES", ""))
    parser.add_argument("--json")
    parser.add_argument("--document")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    chosen = [name for name in names() if not options.item or any(name == one or name.startswith(one + ".") for one in options.item)]
    for one in options.item:
        if not any(name == one or name.startswith(one + ".") for name in chosen):
            parser.error(f"no item '{one}': one of {', '.join(names())}")
    if options.list:
        print("\n".join(chosen))
        return 0
    if (options.document or options.check) and not options.item:
        chosen = []
    results = read_results(options.json or RESULTS)
    trimtab, status, ran = Trimtab(options.build, options.tables), 0, {}
    for name in chosen:
        try:
            ran[name] = module_of(name).run(trimtab)
        except Missing as missing:
            print(f"{name}: left out: {missing}")
            continue
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)
            status = 3
            continue
        print_item(name, ran[name])
        for row in ran[name].unexplained():
            print(f"{name}: {row.what} misses by {off(row)}, and nothing says why", file=sys.stderr)
            status = status or 1
        sys.stdout.flush()
        if options.json:
            results[name] = ran[name]
            write_results(options.json, results)
    if options.check:
        found = [line for name, item in ran.items() for line in differences(name, item, results.get(name))]
        with open(PAGE) as file:
            if file.read() != page(ordered(results)):
                found.append("docs/papers.md is not what results.json gives: bench/papers/run.py --document docs/papers.md")
        print("\n".join(found) if found else f"as in results.json: {', '.join(ran) or 'docs/papers.md'}")
        return status or (1 if found else 0)
    if options.document:
        with open(options.document, "w") as file:
            file.write(page(ordered(results)))
    return status


if __name__ == "__main__":
    sys.exit(main())
