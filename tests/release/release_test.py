# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The SBOM of archives whose content is known, the sums, the section of CHANGELOG.md, and what release.sh refuses."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from release_sbom import expression, holds  # noqa: E402
from sbom import table  # noqa: E402


def compiler():
    """A program that links LLVM; what stands before it on PATH may be a compiler cache."""
    places = (pathlib.Path(folder, "clang++-22").resolve() for folder in os.environ["PATH"].split(os.pathsep))
    return next(place for place in places if place.is_file() and place.name.startswith("clang"))


class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.output = self.path / "out"
        # As far as release.sh looks at a build.
        (self.path / "build/bin").mkdir(parents=True)
        (self.path / "build/CPackConfig.cmake").touch()
        (self.path / "build/bin/trimtab++").touch(mode=0o755)
        version = re.search(r"VERSION (\d\S*)", (ROOT / "CMakeLists.txt").read_text().split("project(")[1]).group(1)
        self.version = version
        self.cache(version)

    def cache(self, version):
        (self.path / "build/CMakeCache.txt").write_text(f"CMAKE_PROJECT_VERSION:STATIC={version}\n")

    def release(self, *words):
        done = subprocess.run([ROOT / "scripts/release.sh", "--build", self.path / "build", "--output", self.output, *words],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    def sbom(self, *words):
        file = self.path / "t.spdx.json"
        done = subprocess.run([sys.executable, ROOT / "scripts/release_sbom.py", "--output", file, *words], capture_output=True,
                              text=True, check=False, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
        return done.returncode, done.stderr, json.loads(file.read_text()) if done.returncode == 0 else {}

    def test_changes_are_the_versions_section_and_no_other(self):
        code, said = self.release("--only", "changes")
        self.assertEqual(code, 0, said)
        text = (self.output / f"trimtab-{self.version}-changes.md").read_text()
        self.assertEqual(len(re.findall(r"^## ", text, re.M)), 1)
        self.assertIn(text, (ROOT / "CHANGELOG.md").read_text())
        self.assertIn(self.version, text.splitlines()[0].split())
        self.cache("0.1")  # the beginning of a version is another
        self.assertEqual(self.release("--only", "changes"), (3, "release.sh: CHANGELOG.md has no section for 0.1\n"))

    def test_sums_are_of_every_file_and_hold(self):
        self.output.mkdir()
        (self.output / "b.deb").write_bytes(b"b")
        (self.output / "a.whl").write_bytes(b"a")
        self.assertEqual(self.release("--only", "sums,changes", "--check-reproducible")[0], 0)
        lines = (self.output / "SHA256SUMS").read_text().splitlines()
        self.assertEqual([line.split()[1] for line in lines], ["a.whl", "b.deb", f"trimtab-{self.version}-changes.md"])
        self.assertEqual(lines[0].split()[0], hashlib.sha256(b"a").hexdigest())

    def test_wrong_usage_and_no_build_are_refused(self):
        self.assertEqual(self.release("--only", "wheels")[0], 2)
        self.assertEqual(self.release("--only")[0], 2)
        self.assertEqual(self.release("--quick")[0], 2)
        (self.path / "build/bin/trimtab++").unlink()
        code, said = self.release("--only", "sums")
        self.assertEqual(code, 3)
        self.assertIn("no finished build", said)

    def test_sbom_names_archives_parts_and_libraries(self):
        tree = self.path / "tree"
        tree.mkdir()
        shutil.copy(compiler(), tree / "program")
        # As auditwheel names a copy; the second is of another library.
        wheel = self.path / "t.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            for name in ("t.libs/libz-0123abcd.so.1", "t.libs/libz3-0123abcd.so.4"):
                archive.writestr(name, b"")
        code, said, document = self.sbom(tree, wheel)
        self.assertEqual(code, 0, said)
        self.assertEqual(self.sbom(tree, wheel)[2], document)
        self.assertEqual(self.sbom(self.path / "no-tree")[0], 3)
        self.assertEqual(self.sbom(tree, tree / "program")[0], 3, "no archive")
        self.assertEqual([document[key] for key in ("spdxVersion", "dataLicense", "SPDXID", "name")],
                         ["SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT", f"trimtab-{self.version}"])
        self.assertEqual(document["creationInfo"]["created"], "2023-11-14T22:13:20Z")
        packages = {package["name"]: package for package in document["packages"]}
        identifiers = [package["SPDXID"] for package in document["packages"]]
        self.assertEqual(len(set(identifiers)), len(identifiers))
        for package in document["packages"]:
            self.assertRegex(package["SPDXID"], r"^SPDXRef-[A-Za-z0-9.-]+$")
            for key in ("downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText"):
                self.assertTrue(package[key], (package["name"], key))
        self.assertEqual(packages["trimtab"]["licenseDeclared"], "Apache-2.0 WITH LLVM-exception")
        self.assertEqual(packages["CLI11"]["licenseDeclared"], "BSD-3-Clause")
        self.assertEqual(packages["libllvm22"]["licenseDeclared"], "Apache-2.0 WITH LLVM-exception")
        self.assertEqual(packages["t.whl"]["checksums"],
                         [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(wheel.read_bytes()).hexdigest()}])
        related = {(one["spdxElementId"], one["relationshipType"], one["relatedSpdxElement"]) for one in document["relationships"]}
        known = {*identifiers, "SPDXRef-DOCUMENT"}
        self.assertTrue(all(one in known and other in known for one, _, other in related))
        held = {other for one, kind, other in related if one == packages["t.whl"]["SPDXID"] and kind == "CONTAINS"}
        self.assertIn(packages["zlib1g"]["SPDXID"], held)
        self.assertIn(packages["libz3-4"]["SPDXID"], held)
        self.assertNotIn(packages["libllvm22"]["SPDXID"], held)

    def test_names_of_libraries_are_told_apart(self):
        self.assertTrue(holds(["x.libs/libz-0123abcd.so.1"], {"libz.so.1"}))
        self.assertTrue(holds(["bundle/lib/libz.so.1"], {"libz.so.1"}))
        for name in ("x.libs/libz3-0123abcd.so.1", "libz.so.1.2.13", "libz-0123.so.1", "mylibz.so.1"):
            self.assertFalse(holds([name], {"libz.so.1"}), name)

    def test_licences_are_spdx_or_refused(self):
        for name, text in table("Compiled into Trimtab's programs and libraries") + table("Linked at run time"):
            self.assertTrue(expression(text), name)
        with self.assertRaises(ValueError):
            expression("some licence, or another")
        with self.assertRaises(ValueError):
            table("no such heading")


if __name__ == "__main__":
    unittest.main()
