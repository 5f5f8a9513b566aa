#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks how the rooms lean on each other, and that no file outgrows one job.

usage: scripts/check_layers.py [--root DIR]

An include may only point downward: a room may use what its row of ROOMS names and, through it, what lies below.
Exit codes: 0 in order, 1 not (one line a finding, file:line: text), 2 usage.
"""

import argparse
import os
import re
import sys

# What each room may include directly (docs: the table of rooms); what those may include follows. A room within another's
# folder is a room of its own.
ROOMS = {
    "include": [],
    "core/base": ["include"],
    "core/ptx": ["core/base"],
    "core/checker": ["core/ptx"],
    "core/sass": ["core/ptx"],
    "core/model": ["core/base"],
    "core/analysis": ["core/checker", "core/model"],
    "emulation/emulator": ["core/analysis"],
    "emulation/schedule": ["emulation/emulator", "core/sass"],
    "emulation/cuda": ["emulation/schedule"],
    "profiler": ["emulation/emulator", "core/sass"],
    "driver_gen": ["profiler"],
    "tools/calibrate": ["core/model", "pipeline"],
    "tools/advice": ["driver_gen", "emulation/schedule"],
    "pipeline": ["driver_gen"],
    "choosing": ["emulation/schedule"],
    "emulation/opencl": ["choosing", "pipeline", "emulation/schedule"],
    "runtime": ["choosing", "emulation/cuda", "emulation/schedule"],
    "pass": ["core/base"],
    "tools": ["runtime", "emulation/opencl", "tools/advice", "tools/calibrate", "pipeline", "pass", "emulation/schedule"],
}
# The same between the folders of a room; "" is what stands in the room itself, which may use all of them.
FOLDERS = {
    "core/analysis": {
        "launches": [],
        "annotations": ["launches"],
        "values": ["launches"],
        "sharing": ["values"],
        "loops": ["sharing"],
        "proof": ["loops"],
        "": ["proof", "annotations"],
    },
}
# What a room may include of one that does not lie below it. Of profiler/, what reads a GPU's counters, for a library that is
# loaded where that is asked for.
PARTS = {"runtime": ("profiler/cupti/",)}
# Namespaces that no folder is named for: trimtab++ is no identifier.
OTHER_NAMESPACES = {"tools": {"wrapper"}}
# Read everything, and nothing reads them.
OUTER_FOLDERS = ["tests", "bench", "samples"]
SOURCE_SUFFIXES = (".h", ".hpp", ".cpp", ".cc", ".c", ".cu", ".cuh")
MAX_LINES = 600  # about 500: a file that grows past this has more than one job
# Slow to compile: a header that pulls them in makes every file that includes it pay. One that only .cpp files
# include, to share what they do with such a library, is no worse than they are.
HEAVY_HEADERS = re.compile(r"nlohmann/json\.hpp|spdlog/|CLI/|sqlite3\.h|llvm/|lapacke\.h|tbb/")
HEAVY_ALLOWED_IN = ["pass"]  # a plugin's interface is LLVM's

# Code that runs inside users' programs: where such a program has more rights than its user, no variable may steer it.
INSIDE_PROGRAMS = ["core/base", "core/ptx", "core/checker", "core/sass", "core/model", "core/analysis", "emulation/emulator",
                   "emulation/schedule", "emulation/cuda", "emulation/opencl", "profiler", "choosing", "runtime", "pass"]
PLAIN_GETENV = re.compile(r"(?<!secure_)\bgetenv\(")

NAMESPACE = re.compile(r"^namespace trimtab::(\w+)")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def reachable(rows, room):
    found, todo = set(), list(rows[room])
    while todo:
        below = todo.pop()
        if below not in found:
            found.add(below)
            todo += rows[below]
    return found


ALLOWED = {room: reachable(ROOMS, room) | {room} for room in ROOMS}


def room_of(path):
    """The innermost room or outer folder in which a path of the repository lies; None: in none of them."""
    parts = path.replace(os.sep, "/").split("/")[:-1]
    for length in range(len(parts), 0, -1):
        folder = "/".join(parts[:length])
        if folder in ROOMS or folder in OUTER_FOLDERS:
            return folder
    return None


def sources(root):
    for folder in sorted({room.split("/")[0] for room in ROOMS} | set(OUTER_FOLDERS)):
        for directory, children, names in os.walk(os.path.join(root, folder)):
            children[:] = sorted(name for name in children if not name.startswith((".", "build")))
            for name in sorted(names):
                if name.endswith(SOURCE_SUFFIXES):
                    path = os.path.join(directory, name)
                    relative = os.path.relpath(path, root)
                    yield room_of(relative), relative, path


def room_of_include(root, path, quote, target):
    """The room that an include of Trimtab's own names, or None for a library's."""
    if target.startswith("trimtab/"):
        return "include"
    room = room_of(target)
    if room in ROOMS and os.path.exists(os.path.join(root, target)):
        return room
    if room in OUTER_FOLDERS and quote == '"':
        return room
    return None


def check_folder(root, room, path, target):
    rows = FOLDERS[room]
    from_folder, to_folder = (
        os.path.dirname(name).removeprefix(room).strip("/") for name in (os.path.relpath(path, root).replace(os.sep, "/"), target)
    )
    for folder in (from_folder, to_folder):
        if folder not in rows:
            return f"{room}/{folder} is not among the folders of {room}/"
    if to_folder != from_folder and to_folder not in reachable(rows, from_folder):
        below = ", ".join(sorted(reachable(rows, from_folder))) or "nothing"
        return f"{room}/{from_folder} must not include '{target}': below it lies {below}"
    return None


def check_include(root, room, path, quote, target):
    # Samples are programs as users write them: they build with no include path of ours.
    if (target.startswith("../") or "/../" in target) and room != "samples":
        return f"include '{target}' from the repository's root, not relative to this file"
    named = room_of_include(root, path, quote, target)
    if room in ROOMS:
        if named in OUTER_FOLDERS:
            return f"{room}/ must not include '{target}': nothing reads {named}/"
        if named is not None and named not in ALLOWED[room] and not target.startswith(PARTS.get(room, ("//",))):
            below = ", ".join(sorted(ALLOWED[room] - {room})) or "nothing"
            return f"{room}/ must not include '{target}': below it lies {below}"
        if named == room and room in FOLDERS:
            return check_folder(root, room, path, target)
    if room == "include" and quote == '"' and not target.startswith("trimtab/"):
        if not os.path.exists(os.path.join(os.path.dirname(path), target)):
            return f"a public header includes '{target}', which is not installed"
    return None


def check_namespace(root, room, name, lines):
    """A namespace is that of its room or of a folder in it; those of rooms below may be opened to declare what is theirs."""
    own = {room.split("/")[-1], *name.removeprefix(room + os.sep).split(os.sep)[:-1], *OTHER_NAMESPACES.get(room, ())}
    below = {folder for other in ALLOWED[room] for folder in [other.split("/")[-1], *os.listdir(os.path.join(root, other))]}
    for number, line in enumerate(lines, 1):
        match = NAMESPACE.match(line)
        if match and match[1] not in own | below:
            yield f"{name}:{number}: namespace trimtab::{match[1]} is not {room}'s"


def check_heavy(includes):
    """`includes`: of every file, by its name, (line number, quote, target)."""
    in_headers = {t for name, found in includes.items() if name.endswith(".h") for _, _, t in found}
    for name, found in includes.items():
        room = room_of(name)
        passed_on = name in in_headers or name.removeprefix("include" + os.sep) in in_headers or room == "include"
        if not name.endswith(".h") or room in HEAVY_ALLOWED_IN or room not in ROOMS or not passed_on:
            continue
        for number, _, target in found:
            if HEAVY_HEADERS.match(target):
                yield f"{name}:{number}: the heavy header '{target}' reaches other headers through this one"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    root = parser.parse_args().root
    includes, findings = {}, []
    for room, name, path in sources(root):
        if room is None:
            findings.append(f"{name}:1: it lies in no room (scripts/check_layers.py has them)")
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        if len(lines) > MAX_LINES:
            findings.append(f"{name}:{MAX_LINES + 1}: {len(lines)} lines, more than {MAX_LINES}: it has more than one job")
        if room in ROOMS and room != "include":
            findings += check_namespace(root, room, name, lines)
        if room in INSIDE_PROGRAMS:
            findings += [
                f"{name}:{number}: secure_getenv() in {room}/, which runs inside programs"
                for number, line in enumerate(lines, 1)
                if PLAIN_GETENV.search(line)
            ]
        matches = [(number, INCLUDE.match(line)) for number, line in enumerate(lines, 1)]
        includes[name] = [(number, *match.groups()) for number, match in matches if match]
        for number, quote, target in includes[name]:
            finding = check_include(root, room, path, quote, target)
            if finding:
                findings.append(f"{name}:{number}: {finding}")
    findings += check_heavy(includes)
    if not includes:
        parser.error(f"no source files under {root}")
    print("\n".join(findings) if findings else f"check_layers: {len(includes)} files in order")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
