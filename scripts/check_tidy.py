#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs clang-tidy over the rooms' own sources, and again only over what changed.

usage: scripts/check_tidy.py [--build DIR] [--jobs N] [FILE...]

Reads DIR/compile_commands.json (default: build/). A file that was clean is not read again until it, a header of
ours that it includes, its command line, .clang-tidy or clang-tidy itself changes; what was clean is noted under
DIR/tidy/. Exit codes: 0 clean, 1 not (clang-tidy's findings), 2 usage, 3 no such build.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys

TIDY = "clang-tidy-22"
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ["core", "emulation", "profiler", "driver_gen", "pipeline", "choosing", "runtime", "pass", "tools"]
INCLUDE = re.compile(rb'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def own_inputs(path, seen):
    """`path` and every header of the repository that it reaches."""
    if path in seen:
        return
    text = read(path)
    seen[path] = text
    for include in INCLUDE.findall(text):
        name = include.decode(errors="replace")
        for base in (os.path.dirname(path), ROOT, os.path.join(ROOT, "include")):
            header = os.path.normpath(os.path.join(base, name))
            if header.startswith(ROOT + os.sep) and os.path.isfile(header):
                own_inputs(header, seen)
                break


def key_of(path, command, common):
    digest = hashlib.sha256(common)
    digest.update(command.encode())
    inputs = {}
    own_inputs(path, inputs)
    for name in sorted(inputs):
        digest.update(name.encode() + b"\0" + inputs[name])
    return digest.hexdigest()


def check(path, build, stamp):
    run = subprocess.run([TIDY, "-p", build, "--quiet", path], capture_output=True, text=True, check=False)
    if run.returncode == 0:
        with open(stamp, "w", encoding="utf-8") as file:
            file.write(os.path.relpath(path, ROOT) + "\n")
        return ""
    errors = "" if run.stdout.strip() else run.stderr
    return (run.stdout + errors).replace(ROOT + os.sep, "").strip()


def of_each_source(database):
    """The same where several sources are compiled together (TRIMTAB_UNITY): an entry for each of them."""
    entries = []
    for entry in database:
        path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
        if os.path.basename(os.path.dirname(path)) != "Unity" or not os.path.exists(path):
            entries.append(entry)
            continue
        command = entry.get("command") or " ".join(entry["arguments"])
        for source in INCLUDE.findall(read(path)):
            name = source.decode()
            entries.append({"directory": entry["directory"], "file": name,
                            "command": command.replace(entry["file"], name)})
    return entries


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*", help="only these (default: every source of the rooms)")
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    try:
        with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
            database = of_each_source(json.load(file))
    except (OSError, ValueError) as problem:
        print(f"check_tidy: {problem}; configure the build first", file=sys.stderr)
        return 3
    wanted = {os.path.abspath(name) for name in arguments.files}
    commands = {}
    for entry in database:
        path = os.path.normpath(os.path.join(entry["directory"], entry["file"]))
        room = os.path.relpath(path, ROOT).split(os.sep, 1)[0]
        if room in FOLDERS and (not wanted or path in wanted) and os.path.exists(path):
            commands.setdefault(path, entry.get("command") or " ".join(entry["arguments"]))
    if not commands and not wanted:
        print(f"check_tidy: {build}/compile_commands.json has no source of the rooms", file=sys.stderr)
        return 3
    missing = wanted - commands.keys()
    if missing:
        parser.error("not in the build, or not a room's source: " + ", ".join(sorted(missing)))

    stamps, commands_folder = os.path.join(build, "tidy"), os.path.join(build, "tidy-commands")
    os.makedirs(stamps, exist_ok=True)
    os.makedirs(commands_folder, exist_ok=True)
    with open(os.path.join(commands_folder, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump(database, file)
    version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
    common = version + read(os.path.join(ROOT, ".clang-tidy"))
    keys = {path: key_of(path, command, common) for path, command in commands.items()}
    for stale in set(os.listdir(stamps)) - set(keys.values()):
        if not wanted:
            os.unlink(os.path.join(stamps, stale))
    todo = [path for path in keys if not os.path.exists(os.path.join(stamps, keys[path]))]
    todo.sort(key=lambda path: -os.path.getsize(path))  # the longest first, so that none runs alone at the end

    failed, seen = 0, set()
    with concurrent.futures.ThreadPoolExecutor(max(1, arguments.jobs)) as pool:
        runs = [pool.submit(check, path, commands_folder, os.path.join(stamps, keys[path])) for path in todo]
        for path, run in zip(todo, runs):
            findings = run.result()
            if not findings:
                continue
            failed += 1
            # A header's finding comes back from every file that includes it: show it once.
            if findings not in seen:
                seen.add(findings)
                print(findings, flush=True)
    print(f"check_tidy: {len(keys)} files, {len(todo)} read, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
