# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the check of the manual's examples takes for the same, and what not."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from check_examples import blocks, commands, first_missing, is_as, unknown  # noqa: E402


class Examples(unittest.TestCase):
    def test_text_is_equal_and_numbers_are_near(self):
        self.assertTrue(is_as("chosen 8x20x1, 75.692 us; 8.2 % less", "chosen 8x20x1, 75.1 us; 8.2 % less", 0.02))
        self.assertFalse(is_as("75.692 us", "80 us", 0.02))
        self.assertTrue(is_as("75.692 us", "80 us", 0.3))
        self.assertFalse(is_as("75.692 us", "75.692 ms", 0.3))
        self.assertTrue(is_as("profiled at 165 points in 0.48 s", "profiled at 165 points in 10.25 s", 0.02))
        self.assertFalse(is_as("profiled at 165 points in 0.48 s", "profiled at 99 points in 0.48 s", 0.02))
        self.assertTrue(is_as("by emulator 92bdc26b205ac0ac", "by emulator 498c7ae4e5eb1693", 0.02))
        self.assertTrue(is_as("a ... z", "a b c z", 0.02))
        self.assertFalse(is_as("PASS", "FAIL", 0.02))

    def test_lines_come_in_order_with_others_between(self):
        self.assertIsNone(first_missing(["a", "...", "c"], ["a", "b", "c"], 0.02))
        self.assertEqual(first_missing(["c", "a"], ["a", "b", "c"], 0.02), "a")
        self.assertEqual(first_missing(["a"], [], 0.02), "a")

    def test_only_marked_blocks_are_checked(self):
        page = ("    $ not this\n    x\n\n<!-- checked within 30 % after: make it -->\n\n    $ one \\\n        more\n"
                "    said\n\n    $ two\ntext\n    $ not this either\n")
        (number, share, before, lines), = blocks(page)
        self.assertEqual((number, share, before), (6, 0.3, "make it"))
        self.assertEqual(len(list(blocks(page.replace("30 %", "30 %, modelled")))), 1)
        self.assertEqual(list(blocks(page.replace("30 %", "30 %, modelled"), modelled=False)), [])
        self.assertEqual(commands(lines), [(0, "one \\\n    more", ["said"]), (4, "two", [])])

    def test_commands_are_held_against_the_tools_help(self):
        helps = {("trimtab", "run"): "  --device TEXT\n  -o,--output TEXT", ("trimtab", "bench"): "--device",
                 ("trimtab++", None): "--trimtab-keep=DIR"}
        def wrong(line):
            return [text for _, text in unknown(line, lambda *which: helps.get(which, ""))]
        self.assertEqual(wrong("    $ A=b trimtab run --device h100 -o x -- ./program --mine  # --not"), [])
        self.assertEqual(wrong("    trimtab run --devise h100"), ["trimtab run has no --devise"])
        self.assertEqual(wrong("    trimtab run --dev"), ["trimtab run has no --dev"])
        self.assertEqual(wrong("    trimtab ruin --device"), ["there is no trimtab ruin"])
        self.assertEqual(wrong("    trimtab run|bench [--device D] (-- PROGRAM...) [--seed S]"), ["trimtab run bench has no --seed"])
        self.assertEqual(wrong("    trimtab run \\\n        --seed 1"), ["trimtab run has no --seed"])
        self.assertEqual(wrong("    trimtab run --device='x --quoted'"), [])
        self.assertEqual(wrong("    trimtab++ -O3 --cuda-path=x --trimtab-kept=x"), ["trimtab++ has no --trimtab-kept"])
        self.assertEqual(wrong("    trimtab: gemm --seed\ntrimtab run --seed"), [])


if __name__ == "__main__":
    unittest.main()
