# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trimtab's own commands and benches of a build folder, as the items ask them."""

import contextlib
import csv
import io
import json
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


class Missing(Exception):
    """Something that an item needs is not on this machine."""


class Trimtab:
    def __init__(self, build, tables):
        self.build, self.tables = os.path.abspath(build), tables
        self.folder = tempfile.TemporaryDirectory()
        self._kept = {}

    def _run(self, words):
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()[-500:]}")
        return done.stdout

    def program(self, name):
        path = os.path.join(self.build, name)
        if not os.path.exists(path):
            raise Missing(f"{name} is not built in {self.build}")
        return path

    def ask(self, command, *words):
        """What `trimtab COMMAND ... --json` prints."""
        return json.loads(self._run([self.program("bin/trimtab"), command, *map(str, words), "--json"]))

    def launch(self, command, file, kernel, device, grid, block, arguments=None, *words):
        """`trimtab emulate` or `trimtab predict` of one launch; grid and block are tuples."""
        values = [f"--arg={name}={value}" for name, value in (arguments or {}).items()]
        return self.ask(command, file, "--kernel", kernel, "--device", device, "--grid", ",".join(map(str, grid)), "--block",
                        ",".join(map(str, block)), *values, *words)

    def object(self, source, name, *flags):
        """The path of `source` compiled once, so that many launches can be asked about."""
        path = os.path.join(self.folder.name, name)
        if not os.path.exists(path):
            self._run([self.program("bin/trimtab++"), "-O3", "--trimtab-quiet", "--trimtab-profile=off", "-c", *flags,
                       source, "-o", path])
        return path

    def bench(self, name, *words):
        return self._run([self.program(name), *words])

    @contextlib.contextmanager
    def empty_cache(self):
        """What runs within finds nothing that Trimtab kept."""
        with tempfile.TemporaryDirectory() as folder:
            before = os.environ.get("XDG_CACHE_HOME")
            os.environ["XDG_CACHE_HOME"] = folder
            try:
                yield
            finally:
                os.environ.pop("XDG_CACHE_HOME")
                if before is not None:
                    os.environ["XDG_CACHE_HOME"] = before

    def device_value(self, device, name):
        with open(device_file(device)) as file:
            return json.load(file)["values"][name]["value"]

    def table(self, name):
        """A file of measured times; those of the papers' GPUs are not all in the repository."""
        for folder in (self.tables, os.path.join(HERE, "data")):
            if folder and os.path.exists(os.path.join(folder, name)):
                return os.path.join(folder, name)
        raise Missing(f"no {name}: give its folder with --tables")

    def selection(self, *words):
        """selection_quality's JSON and its lines of every block, once for each set of options."""
        if words not in self._kept:
            blocks = os.path.join(self.folder.name, f"blocks{len(self._kept)}.csv")
            text = self._run([self.program("bench/selection_quality"), "--table", self.table("polybench.csv"),
                              "--choices", "klaraptor=" + self.table("klaraptor_choices.csv"), "--json", "--csv", blocks,
                              *words])
            with open(blocks) as file:
                self._kept[words] = json.loads(text), list(csv.DictReader(io.StringIO(file.read())))
        return self._kept[words]


def device_file(name):
    return os.path.join(ROOT, "core", "model", "devices", name + ".json")
