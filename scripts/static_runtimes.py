#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes runtime/stand_in/static_runtimes.def: where the functions of each libcudart_static.a start.

    scripts/static_runtimes.py VERSION=libcudart_static.a ... > runtime/stand_in/static_runtimes.def

The archives are in NVIDIA's wheels (pip download --no-deps nvidia-cuda-runtime==VERSION) and in toolkits. Nothing of
their code is kept: only offsets, and hashes of bytes that no linker changes.
"""
import struct
import subprocess
import sys
from pathlib import Path

START_BYTES = 6  # of each function; none has a relocation so early
ALIGNMENT_BYTES = 16  # so that even the shortest has room for a jump
# Relocations that let a linker rewrite the instruction before them, too: GOTPCREL, GOTPCRELX, REX_GOTPCRELX.
RELAXED = {9, 41, 42}
WIDE = {1, 24, 25}  # of eight bytes


def fnv(data, value=0xCBF29CE484222325):
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return value


class Archive:
    def __init__(self, path):
        data = subprocess.run(["ar", "p", path, "cudart_static.o"], check=True, capture_output=True).stdout
        offset, = struct.unpack_from("<Q", data, 0x28)
        size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]

        def contents(section):
            return data[section[4]:section[4] + section[5]]

        def name(table, at):
            return table[at:table.index(b"\0", at)].decode()

        named = {name(contents(sections[names_index]), section[0]): i for i, section in enumerate(sections)}
        text = named[".text"]
        self.code = contents(sections[text])
        self.fixed = bytearray(b"\1") * len(self.code)
        for at, info, _ in struct.iter_unpack("<QQq", contents(sections[named[".rela.text"]])):
            kind = info & 0xFFFFFFFF
            first = at - 3 if kind in RELAXED else at
            end = at + (8 if kind in WIDE else 4)
            self.fixed[first:end] = bytes(end - first)
        strings = contents(sections[sections[named[".symtab"]][6]])
        self.functions = {}
        for at, info, _, section, value, _ in struct.iter_unpack("<IBBHQQ", contents(sections[named[".symtab"]])):
            if section == text and info & 15 == 2:
                self.functions[name(strings, at)] = value

    def longest_fixed(self):
        return max((len(run), -start) for start, run in self.runs())

    def runs(self):
        at = 0
        for run in bytes(self.fixed).split(b"\0"):
            if run:
                yield at, run
            at += len(run) + 1


def main():
    root = Path(__file__).resolve().parent.parent
    names = [line for line in (root / "runtime/stand_in/cudart_symbols.txt").read_text().splitlines() if line and line[0] != "#"]
    archives = {}
    for word in sys.argv[1:]:
        version, path = word.split("=")
        archive = Archive(path)
        key = bytes(byte for byte, keep in zip(archive.code, archive.fixed) if keep)
        archives.setdefault(key, (archive, []))[1].append(version)
    print("// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception")
    print("// Written by scripts/static_runtimes.py. RUNTIME(version, bytes of code, offset and length of the longest stretch that")
    print("// no linker changes, its first 16 bytes, its hash, hash of the functions' first bytes); FUNCTION(name, offset in each")
    print("// runtime, in units of 16 bytes).")
    print("#ifndef RUNTIME\n#define RUNTIME(...)\n#endif\n#ifndef FUNCTION\n#define FUNCTION(...)\n#endif")
    for archive, versions in archives.values():
        assert all(archive.functions[name] % ALIGNMENT_BYTES == 0 for name in names), versions
        length, start = archive.longest_fixed()
        start = -start
        assert all(all(archive.fixed[archive.functions[name]:archive.functions[name] + START_BYTES]) for name in names), versions
        starts = b"".join(archive.code[archive.functions[name]:archive.functions[name] + START_BYTES] for name in names)
        key = struct.unpack_from("<QQ", archive.code, start)
        print(f'RUNTIME("{", ".join(versions)}", {len(archive.code)}, {start}, {length}, {key[0]:#x}, {key[1]:#x}, '
              f'{fnv(archive.code[start:start + length]):#x}, {fnv(starts):#x})')
    for name in names:
        print(f'FUNCTION("{name}", {", ".join(str(archive.functions[name] // ALIGNMENT_BYTES) for archive, _ in archives.values())})')
    print("#undef RUNTIME\n#undef FUNCTION")


if __name__ == "__main__":
    main()
