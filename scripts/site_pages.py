#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lays out the pages of the site (scripts/build_site.sh): Markdown where it lies, with what it links to, and the order of
the pages. Groups are the headings of docs/README.md (Start, Tutorials ...), pages come in the order of their tables; then
follow those of docs/maintainers/README.md. Notebooks become pages with what their cells print, by nbconvert.

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
PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSES.md", "docs", "samples/README.md", "bench/README.md", "core/model/architectures/README.md", "core/model/devices/README.md", "python/README.md"]


def pages():
    for page in PAGES:
        path = ROOT / page
        yield from sorted(one for one in path.rglob("*") if is_page(one)) if path.is_dir() else [path] if path.exists() else []


def is_page(path):
    return path.suffix in (".md", ".ipynb")


def text_of(path):
    if path.suffix != ".ipynb":
        return path.read_text()
    import nbconvert
    text, _ = nbconvert.MarkdownExporter().from_filename(str(path))
    return text


def title_of(path):
    return next((line[2:].strip() for line in text_of(path).splitlines() if line.startswith("# ")), path.stem)


def page_name(path):
    return str(path.relative_to(ROOT).with_suffix(".md"))


def sections(path):
    """(heading, pages in the order of its links) of a page; the part above its first heading has none."""
    for part in re.split(r"^## ", path.read_text(), flags=re.MULTILINE):
        heading, _, text = part.partition("\n")
        others = [(path.parent / target).resolve() for target, _ in LINK.findall(text)]
        yield heading.strip(), [other for other in others if is_page(other) and other.exists()]


def lay_out(output, gallery):
    output.mkdir(parents=True)
    for page in pages():
        text = text_of(page)
        place = output / page_name(page)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        for target, _ in LINK.findall(re.sub(r"`[^`]*`", "", text)):
            other = pathlib.Path(os.path.normpath(page.parent / target))
            if re.match(r"[a-z]+:", target) or is_page(other) or ROOT not in other.parents:
                continue
            copy = output / other.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            if other.is_dir():  # a folder is its README, or the list of its files
                copy.mkdir(parents=True, exist_ok=True)
            elif other.exists():
                shutil.copyfile(other, copy)
    # Links to folders lead to their pages, those to notebooks to what is made of them.
    for page in output.rglob("*.md"):
        text = re.sub(r"(\]\([^)\s:]+)\.ipynb([)#])", r"\1.md\2", page.read_text())
        for target, _ in LINK.findall(text):
            other = pathlib.Path(os.path.normpath(page.parent / target))
            if other.is_dir() and (other / "README.md").exists():
                text = text.replace(f"]({target})", f"]({os.path.relpath(other / 'README.md', page.parent)})")
        page.write_text(text)


def navigation(gallery):
    entry = lambda path: {title_of(path): page_name(path)}
    manual = ROOT / "docs" / "README.md"
    maintainers = ROOT / "docs" / "maintainers" / "README.md"
    taken = {manual, maintainers}
    nav = [{"Trimtab": "README.md"}, {"Contents": page_name(manual)}]
    inside = [entry(maintainers)]

    def untaken(others):
        for other in others:
            if other not in taken and (ROOT / "docs") in other.parents:
                taken.add(other)
                yield entry(other)

    for heading, others in sections(manual):
        if pages_of := list(untaken(others)):
            nav.append({heading: pages_of})
    for _, others in sections(maintainers):
        inside += untaken(others)
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
        shutil.copytree(ROOT / "scripts" / "site", output / "site")  # the style, and what search from a disk needs
        (output / "nav.json").write_text(json.dumps(navigation(gallery)))
    except OSError as error:
        print(f"site_pages.py: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
