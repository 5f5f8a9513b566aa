#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gallery of the manual's site: for each of some well-known kernels its code, what is proved of it, the block that
it gets on five GPUs at two sizes, and the page of a run.

usage: build_gallery.py --bin DIR --output DIR [SAMPLE.cu...]

Writes Markdown, and the report pages as HTML, for scripts/build_site.sh --gallery DIR. A sample that does not build or run is
one line, and exit code 1 in the end; 2: usage.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SAMPLES = ["polybench/gemm", "polybench/2dconv", "polybench/3dconv", "polybench/atax", "polybench/syrk", "polybench/corr",
           "polybench/fdtd2d", "polybench/gramschm", "more/saxpy", "more/mandelbrot", "more/histogram", "more/tiled_matmul"]
DEVICES = ["gtx1080ti", "rtx2070super", "rtx3090", "a100-pcie-40gb", "h100"]
SIZES = [256, 1024]
RUN_SIZE = 128


class Failed(Exception):
    pass


def run(words, **options):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)
    return done


def launched(program, folder):
    """D of each kernel's first launch, by the kernel's name."""
    report = os.path.join(folder, "report.jsonl")
    run([program, str(RUN_SIZE)], env=os.environ | {"TRIMTAB_REPORT": report})
    found = {}
    with open(report) as lines:
        for line in lines:
            launch = json.loads(line)
            found.setdefault(launch["kernel"], launch["data"])
    return found


def choice(trimtab, program, kernel, data, device, size):
    """What a launch of that size gets: its block, or why none is chosen. Integers are the size, all else as launched."""
    about = kernel["description"]
    words = [trimtab, "select", program, "--kernel", about["name"], "--device", device, "--json"]
    for name, source in zip(about["data"], about["data_sources"]):
        if "param" in source:
            value = size if source["type"] in ("s32", "u32", "s64", "u64") else data.get(name, 1)
            words += ["--arg", f"{source['param']}={value}"]
    done = run(words)
    extents = [source for source in about["data_sources"] if "extent" in source]
    if done.returncode == 3 and extents:  # no guard says how many threads there are: a grid-stride loop
        done = run([*words, "--extent", ",".join(str(size) for _ in extents)])
    if done.returncode == 1:
        return "as written"
    if done.returncode != 0:
        raise Failed(f"{about['demangled']} at {size}: {done.stderr.strip()}")
    block = json.loads(done.stdout)["chosen"]
    return " x ".join(str(block[d]) for d in ("bx", "by", "bz")).removesuffix(" x 1").removesuffix(" x 1")


def page_of(sample, tools, output):
    source = ROOT / "samples" / f"{sample}.cu"
    name = source.stem
    with tempfile.TemporaryDirectory(prefix="trimtab-gallery-") as folder:
        program = os.path.join(folder, name)
        built = run([str(tools / "trimtab++"), "-O3", str(source.relative_to(ROOT)), "-o", program], cwd=ROOT)
        if built.returncode != 0:
            raise Failed(f"{sample}: does not build: {built.stderr.strip()[-300:]}")
        trimtab = str(tools / "trimtab")
        kernels = json.loads(run([trimtab, "inspect", program, "--json"]).stdout)["kernels"]
        data = launched(program, folder)
        text = [f"# {name}", "", "```cuda", source.read_text().rstrip(), "```", ""]
        for kernel in kernels:
            about = kernel["description"]
            text += [f"## `{about['demangled']}`", "", f"Verdict: **{about['verdict']}**."]
            text += [f"- {reason['text']}" + (f" ({reason['source']})" if reason["source"] else "")
                     for reason in about["reasons"]]
            if about["verdict"] != "fixed":
                text += ["", "| all sizes | " + " | ".join(DEVICES) + " |", "| --- |" + " --- |" * len(DEVICES)]
                for size in SIZES:
                    text.append(f"| {size} | " + " | ".join(choice(trimtab, program, kernel, data.get(about["name"], {}),
                                                                    device, size) for device in DEVICES) + " |")
            text.append("")
        ran = run([trimtab, "run", "--report", str(output / f"{name}-report.html"), "--", program, str(RUN_SIZE)])
        if ran.returncode != 0:
            raise Failed(f"{sample}: does not run: {ran.stderr.strip()[-300:]}")
        text += [f"[The report page of a run]({name}-report.html) at size {RUN_SIZE}.", ""]
        (output / f"{name}.md").write_text("\n".join(text))
    return name, ", ".join(sorted({kernel["description"]["verdict"] for kernel in kernels}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("samples", nargs="*")
    options = parser.parse_args()
    output, tools = pathlib.Path(options.output), pathlib.Path(options.bin).resolve()
    output.mkdir(parents=True, exist_ok=True)
    rows, failures = [], 0
    for sample in options.samples or SAMPLES:
        try:
            name, verdicts = page_of(sample.removesuffix(".cu"), tools, output)
            rows.append(f"| [{name}]({name}.md) | {verdicts} |")
        except (Failed, OSError, json.JSONDecodeError) as failure:
            failures += 1
            print(f"build_gallery.py: {failure}", file=sys.stderr)
    (output / "index.md").write_text("\n".join(["# Gallery", "", "| kernel | verdicts |", "| --- | --- |", *rows, ""]))
    print(f"{output}: {len(rows)} pages")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
