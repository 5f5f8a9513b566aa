#!/usr/bin/env python3
"""Lays out the pages of the site (scripts/build_site.sh): Markdown where it lies, what it links to beside it, and the
order of the pages, which is that of the tables in docs/README.md and docs/maintainers/README.md.

usage: site_pages.py --output DIR [--gallery DIR]
Exit codes: 0 done, 2 usage, 3 bad input.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")
PAGES = ["README.md", "LICENSES.md", "docs", "samples/README.md", "bench/README.md", "model/devices/README.md", "python/README.md"]


def pages():
    for page in PAGES:
        path = ROOT / page
        yield from sorted(path.rglob("*.md")) if path.is_dir() else [path] if path.exists() else []


def title_of(path):
    return next((line[2:].strip() for line in path.read_text().splitlines() if line.startswith("# ")), path.stem)


def linked(path):
    """Pages in the order of a page's links."""
    for target, _ in LINK.findall(path.read_text()):
        other = (path.parent / target).resolve()
        if other.suffix == ".md" and other.exists():
            yield other


def lay_out(output, gallery):
    output.mkdir(parents=True)
    for page in pages():
        place = output / page.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, place)
        for target, _ in LINK.findall(re.sub(r"`[^`]*`", "", page.read_text())):
            other = pathlib.Path(os.path.normpath(page.parent / target))
            if re.match(r"[a-z]+:", target) or other.suffix == ".md" or ROOT not in other.parents:
                continue
            copy = output / other.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if other.is_dir():  # a folder is its README, or the list of its files
                copy.mkdir(parents=True, exist_ok=True)
            elif other.exists():
                shutil.copyfile(other, copy)
    # Links to folders lead to their pages.
    for page in output.rglob("*.md"):
        text = page.read_text()
        for target, _ in LINK.findall(text):
            other = pathlib.Path(os.path.normpath(page.parent / target))
            if other.is_dir() and (other / "README.md").exists():
                text = text.replace(f"]({target})", f"]({os.path.relpath(other / 'README.md', page.parent)})")
        page.write_text(text)


def navigation(gallery):
    entry = lambda path: {title_of(path): str(path.relative_to(ROOT))}
    manual = ROOT / "docs" / "README.md"
    maintainers = ROOT / "docs" / "maintainers" / "README.md"
    taken, use, inside = {manual, maintainers}, [entry(manual)], [entry(maintainers)]
    for first, section in ((manual, use), (maintainers, inside)):
        for page in linked(first):
            if page not in taken and (ROOT / "docs") in page.parents:
                taken.add(page)
                section.append(entry(page))
    nav = [{"Trimtab": "README.md"}, {"Manual": use}]
    if gallery:
        nav.append({"Gallery": ["gallery/index.md", *(f"gallery/{page.name}" for page in sorted(gallery.glob("*.md"))
                                                      if page.name != "index.md")]})
    nav += [{"For maintainers": inside},
            {"More": [entry(page) for page in pages() if ROOT / "docs" not in page.parents and page != ROOT / "README.md"]}]
    return nav


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True)
    parser.add_argument("--gallery")
    options = parser.parse_args()
    output = pathlib.Path(options.output)
    gallery = pathlib.Path(options.gallery) if options.gallery else None
    try:
        lay_out(output, gallery)
        if gallery:
            shutil.copytree(gallery, output / "gallery")
        (output / "nav.json").write_text(json.dumps(navigation(gallery)))
    except OSError as error:
        print(f"site_pages.py: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
