#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""thirty.py BUILD: thirty kernels as programs have them, and what tunes each.

The programs are those of tests/programs that THIRTY names. Each is built by BUILD/bin/trimtab++, watched by `trimtab suggest`, and
built again with what was found; then its launches are timed as written and as chosen (modelled times of the emulated
device), and `trimtab verify` runs them under all of their blocks. README.md tells what the columns are.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

# By program of tests/programs: what is looked at, chosen by subject before anything was measured.
THIRTY = {
    "array_kernels": ["histogram_shared", "transpose", "sum_tree", "sum_warps", "scan_blocks", "add_totals", "compact",
                      "bitonic_step", "top_k", "hash_probe"],
    "network_kernels": ["softmax_block", "softmax_warp", "layernorm", "rmsnorm_warp", "embedding", "attention_scores",
                        "attention_values", "adam", "im2col", "argmax"],
    "science_kernels": ["gemm", "spmv_rows", "spmv_warps", "stencil_layers", "nearest_centre"],
    "tiled_kernels": ["product_tile", "transpose_tile", "stencil_halo", "bodies_tile", "convolve_tile"],
}


def run(command, timeout_s, **environment):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout_s,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


def json_lines(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def plain(demangled):
    """void name<...>(...) -> name"""
    return demangled.split("(")[0].removeprefix("void ").split("<")[0]


class Program:
    def __init__(self, options, name, folder):
        self.options, self.name, self.folder = options, name, folder
        self.source = os.path.join(options.programs, name + ".cu")

    def path(self, name):
        return os.path.join(self.folder, self.name + "." + name)

    def build(self, binary, *more):
        status, _, errors = run([self.options.compiler, "-O3", self.source, "-o", binary, "--trimtab-quiet", *more], 600)
        if status != 0:
            sys.exit(f"{self.name} does not build: {errors}")

    def kernels_of(self, binary):
        _, out, _ = run([self.options.trimtab, "inspect", binary, "--json"], 120)
        records = [record.get("description", record) for record in json.loads(out)["kernels"]]
        return {description["name"]: description for description in records}

    def launches(self, binary, mode):
        """Of each kernel by its mangled name: the report's lines, and the sum of its times."""
        report, times = self.path(mode + ".report"), self.path(mode + ".times")
        status, _, errors = run([binary], 600, TRIMTAB=mode, TRIMTAB_DEVICE=self.options.device, TRIMTAB_REPORT=report,
                                COVERAGE_TIMES=times, LD_PRELOAD=self.options.times)
        if status != 0:
            sys.exit(f"{self.name} fails under TRIMTAB={mode}: {errors}")
        lines, ns = collections.defaultdict(list), collections.Counter()
        for line in json_lines(report):
            lines[line["kernel"]].append(line)
        for line in json_lines(times):
            ns[line["kernel"]] += line["ns"]
        return lines, ns

    def study(self):
        """name -> row"""
        first, second, found = self.path("first"), self.path("second"), self.path("annotations")
        self.build(first)
        stated = self.kernels_of(first)
        run([self.options.trimtab, "suggest", "--reassociate", "--quiet", "--seconds", str(self.options.seconds),
             "--device", self.options.device, "-o", found, "--", first], 1200)
        suggested = set()
        if os.path.exists(found):
            with open(found, encoding="utf-8") as file:
                suggested = {entry["kernel"] for entry in json.load(file)["kernels"]}
            self.build(second, "--trimtab-annotations=" + found)
        else:
            second = first
        kernels = self.kernels_of(second)
        _, written_ns = self.launches(second, "off")
        lines, chosen_ns = self.launches(second, "on")
        _, out, _ = run([self.options.trimtab, "verify", "--json", "--blocks", self.options.blocks, "--launches", "1",
                         "--device", self.options.device, "--", second], 1800)
        verified = {entry["kernel"]: entry for entry in json.loads(out[out.index("{\n") if "{\n" in out else 0:])["kernels"]}
        rows = {}
        for kernel, description in kernels.items():
            name = plain(description["demangled"])
            if name not in THIRTY[self.name] or not lines[kernel]:
                continue
            decided = any(line["by"] != "unchanged" for line in lines[kernel])
            changed = any(line["chosen"] != line["written"] for line in lines[kernel])
            rows[name] = {
                "program": self.name, "kernel": name,
                "by": self.tuned_by(kernel, description, stated, suggested) if decided else "not",
                "verified": self.outcome(verified.get(kernel), description),
                "changed": changed,
                # Unchanged ones may take longer in one run than in the next: that is no gain.
                "written_ns": written_ns[kernel], "chosen_ns": chosen_ns[kernel] if changed else written_ns[kernel],
                "reason": "" if decided else lines[kernel][0]["reason"]}
        return rows

    @staticmethod
    def tuned_by(kernel, description, stated, suggested):
        if "variant" in description:
            return "variant"
        if kernel in suggested and stated[kernel]["verdict"] != "annotated":
            return "suggestion, reassociate" if description.get("reassociate") else "suggestion"
        return "reassociate" if description.get("reassociate") else "proof"

    @staticmethod
    def outcome(entry, description):
        if entry is None or entry["launches"] == 0:
            return "has one block"
        if entry["differences"]:
            return "DIFFERS"
        sums = description.get("reassociate") or description.get("float_atomics")
        return f"{'within its bound' if sums and entry['rounded_words'] else 'the same bytes'} in {entry['runs']} runs"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="a build folder of Trimtab")
    parser.add_argument("--device", default="rtx2070super")
    parser.add_argument("--blocks", default="all", help="of verify; all: every block that a launch may have")
    parser.add_argument("--seconds", type=int, default=300, help="of each program that suggest takes at most")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    options.compiler, options.trimtab = (os.path.join(build, "bin", name) for name in ("trimtab++", "trimtab"))
    options.times = os.path.join(build, "bench", "libtrimtab_launch_times.so")
    options.programs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "programs")
    rows = []
    with tempfile.TemporaryDirectory(prefix="trimtab-thirty-") as folder:
        for name, wanted in THIRTY.items():
            found = Program(options, name, folder).study()
            missing = [kernel for kernel in wanted if kernel not in found]
            if missing:
                sys.exit(f"{name} launches no {', '.join(missing)}")
            rows += [found[kernel] for kernel in wanted]
    tuned = sum(row["by"] != "not" for row in rows)
    differ = [row["kernel"] for row in rows if row["verified"] == "DIFFERS"]
    if options.json:
        json.dump({"kernels": rows, "tuned": tuned, "differ": differ}, sys.stdout, indent=1)
        print()
    else:
        print("| kernel | tuned by | verify | as written | as chosen | modelled time saved |\n| --- | --- | --- | --- | --- | --- |")
        for row in rows:
            saved = 1 - row["chosen_ns"] / row["written_ns"] if row["written_ns"] else 0
            print(f"| {row['kernel']} | {row['by']} | {row['verified'] if row['by'] != 'not' else row['reason']} | "
                  f"{row['written_ns'] / 1e3:.1f} us | {row['chosen_ns'] / 1e3:.1f} us | {100 * saved:.1f} % |")
        print(f"\n{tuned} of {len(rows)} tuned")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
