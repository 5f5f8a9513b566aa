#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a notebook of the manual, and compares what its cells print with what it says.

usage: run_notebook.py NOTEBOOK.ipynb [--write] [--share F]

It is run in a folder of its own by this very Python, which has nbclient, ipykernel and trimtab. A cell must print the
lines that the notebook has, in order; numbers may differ by the share F (0.3: times are the model's). --write puts what
is printed into the notebook instead.
Exit codes: 0 all is as the notebook says, 1 not (one line a finding), 2 usage.
"""

import argparse
import os
import sys
import tempfile

from check_examples import first_missing


def text_of(cell):
    """What a cell prints; where it fails, why."""
    text = ""
    for output in cell.get("outputs", []):
        if output["output_type"] == "stream":
            text += output["text"]
        elif output["output_type"] == "error":
            text += f"{output['ename']}: {output['evalue']}\n"
        else:
            text += output["data"].get("text/plain", "") + "\n"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("notebook")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--share", type=float, default=0.3)
    options = parser.parse_args()
    import nbclient
    import nbformat
    notebook = nbformat.read(options.notebook, as_version=4)
    said = [text_of(cell) for cell in notebook.cells]
    with tempfile.TemporaryDirectory(prefix="trimtab-notebook-") as folder:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        nbclient.NotebookClient(notebook, timeout=900, kernel_name="python3", allow_errors=not options.write,
                                resources={"metadata": {"path": folder}}).execute()
    if options.write:
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)
        notebook.metadata.pop("language_info", None)
        nbformat.write(notebook, options.notebook)
        return 0
    findings = 0
    for number, (expected, cell) in enumerate(zip(said, notebook.cells), 1):
        actual = text_of(cell).splitlines()
        missing = first_missing([line for line in expected.splitlines() if line.strip()], actual, options.share)
        if missing is not None:
            findings += 1
            print(f"{options.notebook}: cell {number} does not print\n    {missing}\n  but\n    " + "\n    ".join(actual))
    print(f"run_notebook: {len(said)} cells, {findings} print something else")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
