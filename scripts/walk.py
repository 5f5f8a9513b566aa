#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Walks through a call, as a debugger sees it: which source files and rooms it enters, and in which order.

    scripts/walk.py [--from FUNCTION] [--nth N] [--until FUNCTION] [--files] -- PROGRAM ARGUMENTS...

A breakpoint stands on every function of Trimtab's that the program and its libraries have. The walk begins with the
N-th call of FUNCTION (default: trimtab_launch_kernel, the first) and ends when that returns; what it calls of --until is
left out, as are other threads. A function that the compiler has inlined is not seen: files whose every function is
inlined are missing. Needs gdb, nm and a build.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GROUPS = ("core", "emulation", "tools")
MOST_STOPS = 12  # at one function: what a loop does again leads nowhere new


def room(file):
    parts = file.split("/")
    return "/".join(parts[:2]) if parts[0] in GROUPS else parts[0]


def symbols(path):
    lines = subprocess.run(["nm", path], capture_output=True, text=True).stdout.splitlines()
    return [words for words in map(str.split, lines) if len(words) == 3 and words[1] in "tTwW"]


def files_of_functions(build):
    """Mangled name -> source files whose object has it."""
    if next(build.rglob("unity_*_cxx.cxx.o"), None) is not None:
        sys.exit(f"walk.py: {build} compiles several files together; configure another one with -DTRIMTAB_UNITY=OFF, "
                 "and name it with --build")
    files = collections.defaultdict(set)
    for path in build.rglob("*.cpp.o"):
        source = re.sub(r"/CMakeFiles/[^/]+\.dir/", "/", str(path))[len(str(build)) + 1 : -2]
        if source.startswith(("tests/", "bench/")) or not (ROOT / source).exists():
            continue
        for _, kind, name in symbols(path):
            if kind in "tT":
                files[name].add(source)
    return files


def steps(trace, files, until):
    """The file of each call, in order."""
    depth_out = False
    for name in trace:
        if until is not None and name in ("> " + until, "< " + until):
            depth_out = name.startswith(">")
            continue
        candidates = files.get(re.sub(r"\.(cold|constprop|isra|llvm|part)\b.*$", "", name))
        if candidates and not depth_out:
            yield candidates


def report(trace, files_of, arguments):
    sequence = []
    for candidates in steps(trace, files_of, arguments.until):
        # Two libraries may have a function of one name: that of the room where we are.
        here = [file for file in candidates if sequence and room(file) == room(sequence[-1])]
        sequence.append(sorted(here or candidates)[0])
    stretches = []
    for file in sequence:
        if not stretches or stretches[-1][0] != room(file):
            stretches.append((room(file), {}))
        stretches[-1][1][file] = None
    if arguments.files:
        for name, files in stretches:
            print(f"{name}: {' '.join(file[len(name) + 1:] for file in files)}")
    entered = collections.Counter(name for name, _ in stretches)
    in_room = collections.Counter(map(room, dict.fromkeys(sequence)))
    print(f"{sum(in_room.values())} files in {len(in_room)} rooms")
    for name, count in in_room.most_common():
        print(f"  {name}: {count} files, entered {entered[name]} times")


def in_gdb():
    import gdb

    out = open(os.environ["WALK"], "w")
    start, nth = os.environ["WALK_FROM"], int(os.environ["WALK_NTH"])
    until = os.environ.get("WALK_UNTIL")
    known = set()

    class Stop(gdb.Breakpoint):
        def __init__(self, address, name):
            super().__init__(f"*{address:#x}", internal=True)
            self.silent, self.name, self.stops = True, name, 0

        def stop(self):
            if gdb.selected_thread().num != 1:
                return False
            self.stops += 1
            self.enabled = self.stops < MOST_STOPS
            out.write(self.name + "\n")
            if until is not None and until in self.name:
                out.write(f"> {until}\n")
                Return(until)
            return False

    class Return(gdb.FinishBreakpoint):
        def __init__(self, name):
            super().__init__(gdb.newest_frame(), internal=True)
            self.silent, self.name = True, name

        def stop(self):
            out.write(f"< {self.name}\n")
            return False

    def arm(_=None):
        maps = open(f"/proc/{gdb.selected_inferior().pid}/maps").read().splitlines()
        first = {}
        for line in maps:
            first.setdefault(line.split()[-1], int(line.split("-")[0], 16))
        for path, base in first.items():
            if path in known or "trimtab" not in path or not os.path.isfile(path):
                continue
            known.add(path)
            for address, _, name in symbols(path):
                if "trimtab" in name or name.startswith(("cu", "cl", "__cuda")):
                    try:
                        Stop(base + int(address, 16), name)
                    except gdb.error:
                        pass

    for command in ("pagination off", "confirm off", "breakpoint pending on", "detach-on-fork on"):
        gdb.execute("set " + command)
    first = gdb.Breakpoint(start)
    gdb.execute("run")
    for _ in range(nth - 1):
        gdb.execute("continue")
    first.enabled = False
    arm()
    gdb.events.new_objfile.connect(arm)
    gdb.execute("continue" if start == "main" else "finish")
    out.close()
    if gdb.selected_inferior().pid:
        gdb.execute("kill")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="start", default="trimtab_launch_kernel")
    parser.add_argument("--nth", type=int, default=1)
    parser.add_argument("--until", help="a part of a mangled name")
    parser.add_argument("--files", action="store_true", help="print the files of each stretch of a room")
    parser.add_argument("--build", default=str(ROOT / "build"))
    parser.add_argument("program", nargs="+")
    arguments = parser.parse_args()
    files_of = files_of_functions(pathlib.Path(arguments.build))
    with tempfile.NamedTemporaryFile("r") as trace:
        environment = os.environ | {
            "WALK": trace.name,
            "WALK_FROM": arguments.start,
            "WALK_NTH": str(arguments.nth),
        }
        if arguments.until:
            environment["WALK_UNTIL"] = arguments.until
        done = subprocess.run(
            ["gdb", "-batch", "-x", __file__, "--args", *arguments.program],
            env=environment,
            stdout=subprocess.DEVNULL,
        )
        lines = trace.read().splitlines()
    if done.returncode != 0 or not lines:
        sys.exit(f"walk.py: {arguments.start} was not called {arguments.nth} times")
    report(lines, files_of, arguments)


if __name__ == "__main__":
    try:
        import gdb  # noqa: F401
    except ImportError:
        main()
    else:
        in_gdb()
