# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the line that names the licence goes, and which files go without it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "spdx.py"
sys.path.insert(0, str(SCRIPT.parent))
from spdx import LINE, comment_of, is_kernel, with_line  # noqa: E402


class Spdx(unittest.TestCase):
    def test_the_line_is_first_or_below_the_interpreter(self):
        self.assertEqual(with_line("a/b.h", "#pragma once\n"), f"// {LINE}\n#pragma once\n")
        self.assertEqual(with_line("s.sh", "#!/bin/sh\ntrue\n"), f"#!/bin/sh\n# {LINE}\ntrue\n")
        for name, text in (("a.cpp", "int a;\n"), ("s.py", "#!/usr/bin/env python3\n")):
            once = with_line(name, text)
            self.assertEqual(with_line(name, once), once)

    def test_files_whose_lines_are_counted_are_left_out(self):
        for name in ("samples/polybench/gemm.cu", "samples/common/sample.h", "tests/programs/transpose.cu", "tests/a/kernels.cu",
                     "tests/core/ptx/data/a.c", "tests/fuzz/corpus/a.h", "driver_gen/driver_begin.inc", "tools/trimtab/page/vega.min.js",
                     "README.md", "tools/advice/rules.json"):
            self.assertIsNone(comment_of(name), name)
        for name in ("core/ptx/parse.cpp", "calibrate/kernels/a.cu", "emulation/cuda/error_table.inc", "tests/core/ptx/parse_test.cpp"):
            self.assertEqual(comment_of(name), "//", name)
        for name in ("CMakeLists.txt", "core/ptx/CMakeLists.txt", "cmake/package/trimtab.pc.in", ".ci/run"):
            self.assertEqual(comment_of(name), "#", name)
        self.assertTrue(is_kernel("tests/emulation/cuda/kernels.h", "inline __global__ void k() {}\n"))
        self.assertFalse(is_kernel("emulation/emulator/exec/op.h", "// __global__\n"))

    def test_check_names_files_and_changes_none(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "a.cpp"
            source.write_text("int a;\n")
            run = lambda *words: subprocess.run([sys.executable, str(SCRIPT), "--root", folder, *words], capture_output=True, text=True,
                                                check=False)
            checked = run("--check")
            self.assertEqual((checked.returncode, source.read_text()), (1, "int a;\n"), checked.stderr)
            self.assertIn("a.cpp: names no licence", checked.stdout)
            self.assertEqual(run().returncode, 0)
            self.assertEqual(run("--check").returncode, 0)
            self.assertEqual(source.read_text(), f"// {LINE}\nint a;\n")


if __name__ == "__main__":
    unittest.main()
