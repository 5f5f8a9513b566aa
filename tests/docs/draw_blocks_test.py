# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The map of a launch's blocks: what is drawn, marked and refused."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "draw_blocks.py"
RANKING = {"kernel": "k", "device": "gtx1080ti", "chosen": {"bx": 16, "by": 8, "bz": 1},
           "ranking": [{"bx": bx, "by": by, "bz": 1, "ns": ns} for bx, by, ns in ((16, 8, 1e6), (32, 8, 2e6), (32, 13, 3e6))]}
TABLE = "gpu,app,kernel,n,bx,by,time_ms\ngtx1080ti,A,k,64,16,8,1.5\ngtx1080ti,A,k,64,32,8,3\nh100,A,k,64,64,8,1\n"


class DrawBlocks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        (self.path / "select.json").write_text(json.dumps(RANKING))
        (self.path / "table.csv").write_text(TABLE)

    def tearDown(self):
        self.folder.cleanup()

    def draw(self, *words):
        done = subprocess.run([sys.executable, str(SCRIPT), "--ranking", "select.json", "--written", "32,8", "-o", "map.svg", *words],
                              cwd=self.path, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    def titles(self):
        tree = xml.etree.ElementTree.parse(self.path / "map.svg")
        return [one.text for one in tree.iter("{http://www.w3.org/2000/svg}title")]

    def test_every_predicted_block_is_a_cell_with_its_time(self):
        self.assertEqual(self.draw()[0], 0)
        self.assertEqual(self.titles()[1:], ["16 x 8: 1 ms, 1.00 times the best", "32 x 8: 2 ms, 2.00 times the best",
                                             "32 x 13: 3 ms, 3.00 times the best"])

    def test_beside_measured_times_both_maps_have_the_measured_blocks(self):
        self.assertEqual(self.draw("--measured", "table.csv", "--gpu", "gtx1080ti", "--kernel", "k", "--n", "64")[0], 0)
        cells = self.titles()[1:]
        self.assertEqual([cell.split(":")[0] for cell in cells], ["16 x 8", "32 x 8"] * 2)
        self.assertIn("16 x 8: 1.5 ms", cells[2])
        # As written and chosen, in each map and in the legend.
        self.assertEqual((self.path / "map.svg").read_text().count('stroke-width="3"'), 6)

    def test_what_is_missing_is_said(self):
        code, said = self.draw("--measured", "table.csv", "--gpu", "gtx1080ti", "--kernel", "k", "--n", "65")
        self.assertEqual(code, 3)
        self.assertIn("has no times of k on gtx1080ti for N = 65", said)
        self.assertEqual(self.draw("--measured", "table.csv")[0], 2)


if __name__ == "__main__":
    unittest.main()
