#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""coverage.py BUILD DIR...: of all CUDA programs below the folders, what Trimtab does with their kernels and launches.

Programs are sources (*.cu with a main), which BUILD/bin/trimtab++ builds (flags as their second line says, "// Flags: ..."),
and executables that `trimtab inspect` reads. Each is run twice on every emulated device: as written and as chosen.
Arguments of a run are those that a programs.txt in one of the folders names. README.md tells what the numbers are.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

# What is said about one kernel alone, taken out so that like reasons count together.
PLACES = [(re.compile(r"\([^()]*\)"), ""), (re.compile(r"'[^']*'"), "'...'"), (re.compile(r"\b\d+\b"), "N"),
          (re.compile(r"(blockIdx|threadIdx|blockDim|gridDim|extent|row|g)\.[xyz]"), r"\1"),
          (re.compile(r"; .*"), ""), (re.compile(r" (in|of) [xyz]\b"), "")]


BUILT_IN = "the built-in block of "


def general(reason):
    for pattern, by in PLACES:
        reason = pattern.sub(by, reason)
    return " ".join(reason.split())


def run(command, timeout_s, **environment):
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout_s,
                              env={**os.environ, **environment})
        return done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        return None, "", "takes too long"


def json_lines(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            return [json.loads(line) for line in lines if line.strip()]
    except OSError:
        return []


class Program:
    """One program: its path, and what was found out."""

    def __init__(self, path, arguments):
        self.path, self.arguments = path, arguments
        self.problem, self.kernels = "", []
        self.launches_on = {}  # by device

    @property
    def launches(self):
        """Those on the first device."""
        return next(iter(self.launches_on.values()), [])

    def study(self, options):
        with tempfile.TemporaryDirectory(prefix="trimtab-coverage-") as folder:
            binary = self.path
            if self.path.endswith(".cu"):
                binary = os.path.join(folder, "program")
                if not self.build(options, binary):
                    return self
            status, out, _ = run([options.trimtab, "inspect", binary, "--json"], 120)
            if status != 0:
                self.problem = "has no kernels"
                return self
            self.kernels = self.kernels_of(json.loads(out)["kernels"])
            for device in options.devices:
                if not self.run_on(device, options, binary, folder):
                    self.launches_on = {}
                    break
        return self

    def run_on(self, device, options, binary, folder):
        written = self.launch_all(options, binary, folder, "off", device)
        chosen = self.launch_all(options, binary, folder, "on", device)
        if written is None or chosen is None:
            return False
        self.launches_on[device] = [self.launch_of(line, written[1], chosen[1]) for line in chosen[0]]
        return True

    def launch_of(self, line, written, chosen):
        changed = line["chosen"] != line["written"]
        # Both are in the order of a kernel's launches; one into a graph has no time of its own.
        written_ns, chosen_ns = self.next_of(written, line), self.next_of(chosen, line)
        return {
            "kernel": line["kernel"], "decided": line["by"] != "unchanged", "changed": changed, "written_ns": written_ns,
            # Where threads wait for each other a run takes longer than the next: that is no gain of a launch as written.
            "chosen_ns": chosen_ns if changed else written_ns,
            "written_block": line["written"]["block"], "chosen_block": line["chosen"]["block"],
            "reason": line.get("reason") or ""}

    @staticmethod
    def next_of(times, line):
        return times[line["kernel"]].popleft() if times[line["kernel"]] else 0

    def build(self, options, binary):
        with open(self.path, encoding="utf-8", errors="replace") as source:
            lines = source.read().splitlines()
        if not any(re.search(r"\bmain\s*\(", line) for line in lines):
            self.problem = "no main"
            return False
        flags = lines[1][len("// Flags: "):] if len(lines) > 1 and lines[1].startswith("// Flags: ") else "-O3"
        status, _, errors = run([options.compiler, *shlex.split(flags), self.path, "-o", binary], options.timeout)
        if status != 0:
            self.problem = "does not build: " + (errors.strip().splitlines() or ["?"])[0]
        return status == 0

    @classmethod
    def kernels_of(cls, records):
        """Launches of a kernel whose block is built in are those of the body beside it: they are one."""
        kernels, bodies = [], {}
        for record in records:
            kernel, of = cls.kernel(record), record.get("description", record).get("variant", {}).get("of", "")
            if of.startswith(BUILT_IN):
                bodies[of[len(BUILT_IN):]] = kernel
            else:
                kernels.append(kernel)
        for kernel in kernels:
            if kernel["verdict"] == "fixed" and kernel["name"] in bodies:
                kernel |= {key: bodies[kernel["name"]][key] for key in ("verdict", "reason")}
        return kernels

    @staticmethod
    def kernel(record):
        description = record.get("description", record)
        reasons = description.get("reasons", [])
        return {"name": description["name"], "demangled": description.get("demangled", ""),
                "verdict": description["verdict"],
                "reason": f"rule {reasons[0]['rule']}: {general(reasons[0]['text'])}" if reasons else ""}

    def launch_all(self, options, binary, folder, mode, device):
        """The report's lines, and the times of each kernel's launches; None: it does not run."""
        report, times = (os.path.join(folder, f"{device}.{mode}.{what}") for what in ("report", "times"))
        status, _, errors = run([binary, *self.arguments], options.timeout, TRIMTAB=mode, TRIMTAB_DEVICE=device,
                                TRIMTAB_REPORT=report, COVERAGE_TIMES=times, LD_PRELOAD=options.times)
        if status != 0:
            self.problem = f"ends with {status} under TRIMTAB={mode}: " + (errors.strip().splitlines() or ["?"])[-1]
            return None
        times_of = collections.defaultdict(collections.deque)
        for line in json_lines(times):
            times_of[line["kernel"]].append(line["ns"])
        return json_lines(report), times_of


def programs_below(folders, own_sizes):
    arguments = {}
    found = []
    for folder in folders:
        for root, names, files in os.walk(folder):
            names[:] = sorted(name for name in names if not name.startswith((".", "build")))
            if "programs.txt" in files and not own_sizes:
                with open(os.path.join(root, "programs.txt"), encoding="utf-8") as listed:
                    for line in listed:
                        if line.strip() and not line.startswith("#"):
                            path, *rest = line.split()
                            arguments[os.path.realpath(os.path.join(root, path))] = rest
            for name in sorted(files):
                path = os.path.join(root, name)
                if name.endswith(".cu"):
                    found.append(path)
                elif os.access(path, os.X_OK):
                    with open(path, "rb") as file:
                        if file.read(4) == b"\x7fELF" and b".so" not in os.fsencode(name):
                            found.append(path)
    return [Program(path, arguments.get(os.path.realpath(path), [])) for path in found]


def summary(programs):
    verdicts, reasons, kept = (collections.Counter() for _ in range(3))
    ns = collections.Counter()
    launches = collections.Counter()
    launched_kernels, decided_kernels = set(), set()
    for program in programs:
        for kernel in program.kernels:
            verdicts[kernel["verdict"]] += 1
            if kernel["verdict"] != "covering":
                reasons[(kernel["verdict"], kernel["reason"])] += 1
        for launch in program.launches:
            key = (program.path, launch["kernel"])
            launched_kernels.add(key)
            launches["all"] += 1
            ns["written"] += launch["written_ns"]
            ns["chosen"] += launch["chosen_ns"]
            if launch["decided"]:
                decided_kernels.add(key)
                launches["decided"] += 1
                ns["of decided"] += launch["written_ns"]
            else:
                kept[general(launch["reason"])] += 1
            launches["changed"] += launch["changed"]
    share = ns["of decided"] / ns["written"] if ns["written"] else 0
    return {
        "programs": len([p for p in programs if p.kernels]),
        "skipped": {p.path: p.problem for p in programs if p.problem and p.problem != "no main"},
        "kernels": sum(verdicts.values()), "verdicts": dict(verdicts),
        "reasons": [{"verdict": v, "reason": r, "kernels": n} for (v, r), n in reasons.most_common()],
        "launched_kernels": len(launched_kernels), "tuned_kernels": len(decided_kernels),
        "launches": launches["all"], "tuned_launches": launches["decided"], "changed_launches": launches["changed"],
        "kept": [{"reason": r, "launches": n} for r, n in kept.most_common()],
        "modelled_ns": {"written": ns["written"], "chosen": ns["chosen"], "tuned_share": share}}


def print_table(result, programs, by_kernel):
    part = lambda n, of: f"{n} of {of}" + (f" ({100 * n / of:.0f} %)" if of else "")
    print(f"{result['programs']} programs, {result['kernels']} kernels\n")
    print("| verdict | kernels |\n| --- | --- |")
    for verdict, count in sorted(result["verdicts"].items(), key=lambda item: -item[1]):
        print(f"| {verdict} | {part(count, result['kernels'])} |")
    print("\n| verdict | first reason | kernels |\n| --- | --- | --- |")
    for line in result["reasons"]:
        print(f"| {line['verdict']} | {line['reason']} | {line['kernels']} |")
    time = result["modelled_ns"]
    gain = 1 - time["chosen"] / time["written"] if time["written"] else 0
    print("\n| launched | |\n| --- | --- |")
    print(f"| kernels tuned | {part(result['tuned_kernels'], result['launched_kernels'])} |")
    print(f"| launches tuned | {part(result['tuned_launches'], result['launches'])} |")
    print(f"| launches with another block | {part(result['changed_launches'], result['launches'])} |")
    print(f"| tuned launches' share of modelled time | {100 * time['tuned_share']:.0f} % |")
    print(f"| modelled time saved | {100 * gain:.1f} % |")
    if result["kept"]:
        print("\n| launches kept as written | |\n| --- | --- |")
        for line in result["kept"]:
            print(f"| {line['reason']} | {line['launches']} |")
    if by_kernel:
        print_kernels(programs)
    for path, problem in result["skipped"].items():
        print(f"skipped: {path}: {problem}")


def short(block):
    return "x".join(map(str, block)).removesuffix("x1").removesuffix("x1")


def usual(blocks):
    return collections.Counter(map(short, blocks)).most_common(1)[0][0]


def on_device(launches):
    """The block that most launches get, and what all save."""
    written, chosen = (sum(launch[key] for launch in launches) for key in ("written_ns", "chosen_ns"))
    if not any(launch["decided"] for launch in launches):
        return "" if launches else "not launched"
    saved = f"{100 * (1 - chosen / written):.1f} %" if written else ""
    return f"{usual(launch['chosen_block'] for launch in launches)}: {saved}"


def print_kernels(programs):
    devices = next((list(program.launches_on) for program in programs if program.launches_on), [])
    print("\n| program | kernel | verdict | launches | block |", *(f"{device} |" for device in devices), "why not |")
    print("| --- | --- | --- | --- | --- |", "--- | " * len(devices) + "--- |")
    for program in programs:
        for kernel in program.kernels:
            name = kernel["demangled"].split("(")[0].removeprefix("void ") or kernel["name"]
            if len(name) > 60:
                name = name.split("<")[0].split("::")[-1]
            own = {device: [launch for launch in launches if launch["kernel"] == kernel["name"]]
                   for device, launches in program.launches_on.items()}
            first = next(iter(own.values()), [])
            kept = [launch["reason"] for launches in own.values() for launch in launches if not launch["decided"]]
            why = kernel["reason"] if kernel["verdict"] == "fixed" else general(kept[0]) if kept else ""
            block = usual(launch["written_block"] for launch in first) if first else ""
            cells = [os.path.splitext(os.path.basename(program.path))[0], name, kernel["verdict"], len(first), block,
                     *(on_device(launches) for launches in own.values()), why]
            print("|", " | ".join(map(str, cells)), "|")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="a build folder of Trimtab")
    parser.add_argument("folders", nargs="+", help="searched for *.cu and for executables")
    parser.add_argument("--device", default="rtx2070super", help="several with commas between; counts are of the first")
    parser.add_argument("--json", action="store_true", help="everything, launches too")
    parser.add_argument("--kernels", action="store_true", help="a line for each kernel")
    parser.add_argument("--own-sizes", action="store_true", help="without the arguments of programs.txt")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="only the first of each K programs")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--timeout", type=int, default=300, help="seconds, of a build and of a run")
    options = parser.parse_args()
    options.devices = options.device.split(",")
    options.build = os.path.abspath(options.build)
    options.compiler, options.trimtab = (os.path.join(options.build, "bin", name) for name in ("trimtab++", "trimtab"))
    options.times = os.path.join(options.build, "bench", "libtrimtab_launch_times.so")
    for needed in (options.compiler, options.trimtab, options.times):
        if not os.path.exists(needed):
            parser.error(f"{needed} is not built")
    programs = programs_below(options.folders, options.own_sizes)[::options.every]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        programs = list(pool.map(lambda program: program.study(options), programs))
    result = summary(programs)
    if options.json:
        result["per_program"] = [{"path": p.path, "problem": p.problem, "kernels": p.kernels, "launches": p.launches,
                                  "launches_on": p.launches_on}
                                 for p in programs]
        json.dump(result, sys.stdout, indent=1)
        print()
    else:
        print_table(result, programs, options.kernels)
    return 0 if result["kernels"] else 1


if __name__ == "__main__":
    sys.exit(main())
