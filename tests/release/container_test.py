# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The container's file, as far as it goes without a container: apt knows its packages, and CMake is content with the
sources that it copies."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "scripts/container/Containerfile"


def instructions():
    """(name, words) of each, continued lines joined and comments left out."""
    text = re.sub(r"^\s*#.*\n", "", FILE.read_text(), flags=re.M).replace("\\\n", " ")
    return [(line.split()[0], line.split()[1:]) for line in text.splitlines() if line.strip()]


def packages():
    for name, words in instructions():
        if name == "RUN":
            for command in " ".join(words).split("&&"):
                if " install " in command:
                    yield from (word for word in command.split(" install ")[1].split() if word[0] not in "-/")


def copies():
    for name, words in instructions():
        if name == "COPY" and not words[0].startswith("--"):
            yield from ((source, words[-1]) for source in words[:-1])


class Container(unittest.TestCase):
    def test_apt_knows_the_packages(self):
        names = list(packages())
        self.assertIn("g++", names)
        try:
            if not re.search(r"^VERSION_ID=\"?12\"?$", pathlib.Path("/etc/os-release").read_text(), re.M):
                self.skipTest("not Debian 12")
            known = subprocess.run(["apt-cache", "pkgnames"], capture_output=True, text=True, check=True).stdout.split()
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("no apt here")
        if not any(pathlib.Path("/var/lib/apt/lists").glob("*Packages*")):
            self.skipTest("apt has no lists here")
        self.assertEqual([name for name in names if name not in known], [])

    def test_cmake_configures_and_finds_all_that_is_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder) / "src"
            tree.mkdir()
            for source, target in copies():
                self.assertTrue((ROOT / source).exists(), source)
                place = tree / target / source if target == "./" else tree / target
                place.parent.mkdir(parents=True, exist_ok=True)
                (shutil.copytree if (ROOT / source).is_dir() else shutil.copy)(ROOT / source, place)
            done = subprocess.run(["bash", "-c", 'source "$0/scripts/common.sh"; cmake -S "$1" --preset default -DTRIMTAB_TESTS=OFF '
                                   '-DTRIMTAB_BENCHMARKS=OFF "-DTRIMTAB_CUDA_PATH=$(find_cuda)"', ROOT, tree],
                                  cwd=tree, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr[-2000:])
            installed = set()
            for script in (tree / "build").rglob("cmake_install.cmake"):
                installed |= set(re.findall(rf'"({re.escape(str(tree))}/(?!build/)[^"]*)"', script.read_text()))
            self.assertIn(f"{tree}/LICENSES.md", installed)
            self.assertEqual([path for path in sorted(installed) if not pathlib.Path(path).exists()], [])


if __name__ == "__main__":
    unittest.main()
