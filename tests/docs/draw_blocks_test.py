# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The map of a launch's blocks, and the manual's other pictures: what is drawn, marked and refused."""

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


class DrawPictures(unittest.TestCase):
    """SVGs with the numbers of their sources."""

    ROOT = pathlib.Path(__file__).resolve().parents[2]

    def draw(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "trace.json").write_text(json.dumps({"traceEvents": [
                {"ph": "M", "pid": 0, "name": "process_name", "args": {"name": "block 7"}},
                {"ph": "X", "pid": 0, "tid": 2, "ts": 0, "dur": 4, "name": "add", "args": {"resource": "integer"}},
                {"ph": "X", "pid": 0, "tid": 9, "ts": 900, "dur": 4, "name": "late", "args": {"resource": "fp32"}}]}))
            (path / "gpu.json").write_text(json.dumps({"name": "A GPU", "values": {name: {"value": value} for name, value in {
                "sm_count": 4, "register_allocation_unit": 256, "warp_allocation_granularity": 4, "registers_per_sm": 65536,
                "max_threads_per_sm": 1024, "max_warps_per_sm": 32, "max_blocks_per_sm": 16}.items()}}))
            done = subprocess.run([sys.executable, str(self.ROOT / "scripts" / "draw_pictures.py"), *words, "-o", "picture.svg"],
                                  cwd=path, capture_output=True, text=True, check=False)
            if done.returncode:
                return done.returncode, done.stderr
            tree = xml.etree.ElementTree.parse(path / "picture.svg")
            return 0, [one.text for one in tree.iter("{http://www.w3.org/2000/svg}text")]

    def test_blocks_waves_and_the_tail_are_counted(self):
        # 100 x 60 in blocks of 32 x 8: 4 x 8 blocks cover 128 x 64. 256 threads: 4 blocks on an SM by threads and registers.
        code, words = self.draw("coverage", "--description", "gpu.json", "--extent", "100,60", "--written", "32,8", "--chosen", "32,32")
        self.assertEqual(code, 0)
        self.assertIn("as written: 32 x 8, a grid of 4 x 8", words)
        self.assertIn("26.8 % of its threads are beyond the extent (red)", words)
        self.assertIn("32 blocks, 16 at a time (4 on each SM): 2 waves", words)
        self.assertIn("the last wave, the tail, has 4 of 4 blocks", words)

    def test_the_timeline_has_the_warps_of_its_first_cycles(self):
        code, words = self.draw("timeline", "--trace", "trace.json", "--cycles", "500")
        self.assertEqual(code, 0)
        self.assertIn("block 7, warp 2", words)
        self.assertNotIn("block 7, warp 9", words)

    def test_efficiencies_are_those_of_the_table(self):
        code, words = self.draw("efficiency")
        self.assertEqual(code, 0)
        table = (self.ROOT / "bench" / "README.md").read_text()
        self.assertIn("| GTX 1080 Ti, 2-D kernels | 38 | 0.987 |", table)
        self.assertEqual(words.count("98.7 %"), 1)

    def test_what_cannot_be_drawn(self):
        self.assertEqual(self.draw("timeline")[0], 2)
        self.assertEqual(self.draw("sm", "--description", "none.json")[0], 3)


if __name__ == "__main__":
    unittest.main()
