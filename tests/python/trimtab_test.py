# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python's module: what it answers, held against what the kernels are; and what it makes of wrong questions."""

import importlib.util
import math
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import trimtab
from trimtab._tools import tool_path

SAXPY = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry saxpy(.param .u64 saxpy_x, .param .u64 saxpy_y, .param .f32 saxpy_a, .param .u32 saxpy_n) {
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<8>; .reg .f32 %f<5>;
    ld.param.u64 %rd1, [saxpy_x]; ld.param.u64 %rd2, [saxpy_y]; ld.param.f32 %f1, [saxpy_a]; ld.param.u32 %r1, [saxpy_n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd3, %rd1; cvta.to.global.u64 %rd4, %rd2;
    mul.wide.s32 %rd5, %r5, 4;
    add.s64 %rd6, %rd3, %rd5; add.s64 %rd7, %rd4, %rd5;
    ld.global.f32 %f2, [%rd6]; ld.global.f32 %f3, [%rd7];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd7], %f4;
DONE:
    ret;
}
"""
SHARED = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry reversed(.param .u64 reversed_x) {
    .reg .b32 %r<4>; .reg .b64 %rd<6>;
    .shared .align 4 .b8 tile[4096];
    ld.param.u64 %rd1, [reversed_x]; cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4];
    mov.u64 %rd5, tile; add.s64 %rd5, %rd5, %rd3;
    st.shared.u32 [%rd5], %r2;
    bar.sync 0;
    ld.shared.u32 %r3, [tile];
    st.global.u32 [%rd4], %r3;
    ret;
}
"""
N = {"3": 1 << 20}  # PTX has no names of parameters but their places


class Questions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        os.environ["XDG_CACHE_HOME"] = os.path.join(cls.folder.name, "cache")
        cls.saxpy = Path(cls.folder.name) / "saxpy.ptx"
        cls.saxpy.write_text(SAXPY)
        cls.shared = Path(cls.folder.name) / "shared.ptx"
        cls.shared.write_text(SHARED)

    def test_kernels_are_described_with_what_was_proved(self):
        kernel, = trimtab.describe(self.saxpy)
        self.assertEqual((kernel.name, kernel.verdict, kernel.may_change), ("saxpy", "covering", True))
        self.assertEqual(kernel.reasons, ())
        other, = trimtab.describe(self.shared)
        self.assertFalse(other.may_change)
        self.assertTrue(any("shared memory" in reason for reason in other.reasons), other.reasons)

    def test_a_choice_is_the_best_of_its_ranking_and_of_the_candidates_alone(self):
        choice = trimtab.select(self.saxpy, device="rtx3090", args=N)
        self.assertEqual(choice.device, "rtx3090")
        self.assertEqual(choice.time_ns, min(candidate.time_ns for candidate in choice.ranking))
        self.assertEqual(choice.block[1:], (1, 1))
        asked = [(64, 1, 1), (1024, 1, 1)]
        of_two = trimtab.select(self.saxpy, device="rtx3090", args=N, candidates=asked)
        self.assertIn(of_two.block, asked)
        self.assertEqual({candidate.block for candidate in of_two.ranking}, set(asked))

    def test_a_kernel_that_keeps_its_block_is_the_answer_no(self):
        with self.assertRaises(trimtab.TrimtabError) as caught:
            trimtab.select(self.shared, extent=(4096,))
        self.assertEqual(caught.exception.exit_code, 1)

    def test_predictions_and_emulations_are_of_the_launch(self):
        launch = {"grid": (4096,), "block": (256,), "device": "rtx3090", "args": N}
        predicted = trimtab.predict(self.saxpy, **launch)
        emulated = trimtab.emulate(self.saxpy, **launch)
        # 12 bytes an element, at the 936 GB/s of the card: neither is below what its memory takes.
        least_ns = 12 * (1 << 20) / 936e9 * 1e9
        for time_ns in (predicted.time_ns, emulated.time_ns):
            self.assertGreater(time_ns, 0.9 * least_ns)
            self.assertLess(time_ns, 20 * least_ns)
        self.assertTrue(0 < predicted.occupancy <= 1)
        self.assertEqual(predicted.json["block"], [256, 1, 1])
        self.assertGreater(trimtab.predict(self.saxpy, **(launch | {"device": "c2075"})).time_ns, predicted.time_ns)

    def test_pruning_finds_a_block_without_a_profile(self):
        pruned = trimtab.prune(self.saxpy, global_size=(1 << 20,), device="rtx3090", args=N, block=(1024,))
        self.assertEqual(pruned.device, "rtx3090")
        self.assertEqual(pruned.time_ns, min(time_ns for _, time_ns in pruned.ranking))
        self.assertIn((pruned.block, pruned.time_ns), pruned.ranking)
        self.assertEqual(pruned.json["others"][0]["x"], 1024)
        self.assertGreaterEqual(pruned.json["others"][0]["ns"], pruned.time_ns)
        with self.assertRaises(ValueError):
            trimtab.prune()

    def test_advice_is_of_one_launch(self):
        advice = trimtab.advise(self.saxpy, grid=(4096,), block=(256,), device="rtx3090", args=N)
        self.assertEqual(advice.device, "rtx3090")
        self.assertGreater(advice.total_ns, 0)
        self.assertEqual(len(advice.json["kernels"]), 1)
        with self.assertRaises(ValueError):
            trimtab.advise()

    def test_findings_say_what_is_seen_and_what_to_do(self):
        # A thread a block: most lanes of each warp are not there.
        advice = trimtab.advise(self.saxpy, grid=(1 << 20,), block=(1,), device="rtx3090", args=N)
        finding = advice.findings[0]
        self.assertRegex(finding.text, "^[a-z].*; .*[0-9]")
        self.assertTrue(finding.remedy)
        self.assertGreater(finding.gain, 1)
        self.assertEqual(finding.rule, advice.json["kernels"][0]["findings"][0]["rule"])

    def test_devices_are_listed(self):
        self.assertIn("h100", {device["slug"] for device in trimtab.devices()})

    def test_bad_input_is_one_line_with_its_exit_code(self):
        for question, code in (({"file": "/no/such.ptx"}, 3), ({"file": self.saxpy, "device": "gtx9"}, 3),
                               ({"file": self.saxpy, "args": {"m": 1}}, None)):
            with self.assertRaises(trimtab.TrimtabError) as caught:
                trimtab.select(**question)
            self.assertEqual(len(str(caught.exception).splitlines()), 1)
            self.assertIn(caught.exception.exit_code, (2, 3) if code is None else (code,))

    def test_the_programs_are_run_by_their_names(self):
        for words in (["--version"], ["devices", "h100"]):
            ran = subprocess.run([sys.executable, "-m", "trimtab", *words], capture_output=True, text=True, check=False)
            self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertTrue(tool_path("trimtab++").endswith("/bin/trimtab++"))
        with self.assertRaises(trimtab.TrimtabError):
            tool_path("no-such-program")


@unittest.skipUnless(importlib.util.find_spec("kernel_tuner"), "Kernel Tuner is not installed")
class KernelTuner(unittest.TestCase):
    SOURCE = """
    extern "C" __global__ void triad(float *out, const float *a, const float *b, int n) {
        for (int k = 0; k < items; ++k) {
            int i = (blockIdx.x * items + k) * block_size_x + threadIdx.x;
            if (i < n) out[i] = a[i] + 3 * b[i];
        }
    }"""
    PARAMETERS = {"block_size_x": [32, 128, 512, 2048], "items": [1, 4]}

    def tune(self, **options):
        import kernel_tuner
        import numpy
        from trimtab.kernel_tuner import emulated
        n = numpy.int32(1 << 18)
        arrays = [numpy.zeros(1, dtype=numpy.float32) for _ in range(3)]
        with emulated(device="rtx2070super"):
            return kernel_tuner.tune_kernel("triad", self.SOURCE, int(n), [*arrays, n], self.PARAMETERS, lang="CUDA",
                                            grid_div_x=["block_size_x", "items"], quiet=True, **options)

    def test_the_runner_emulates_and_the_strategy_finds_the_best(self):
        from trimtab.kernel_tuner import strategy
        every, env = self.tune()
        self.assertEqual(env["device_name"], "NVIDIA GeForce RTX 2070 SUPER")
        times = {(one["block_size_x"], one["items"]): one["time"] for one in every if "__error__" not in one}
        self.assertEqual(len(times), 6)  # blocks of 2048 are no launches
        found, _ = self.tune(strategy=strategy(seed=1), strategy_options={"max_fevals": 7})
        best = min(one["time"] for one in found if "__error__" not in one)
        self.assertLessEqual(best, 1.02 * min(times.values()))

    def test_the_strategy_needs_far_fewer_evaluations_than_a_sample(self):
        """A made-up table of 4096 configurations with one valley, in simulation mode."""
        from trimtab._surrogate import Surrogate, features_of
        import numpy
        names = ["block_size_x", "block_size_y", "tile_size_x", "flag"]
        table = [(x, y, t, f) for x in (1, 2, 4, 8, 16, 32, 64, 128) for y in (1, 2, 4, 8, 16, 32)
                 for t in (1, 2, 3, 4, 5, 6, 7, 8) for f in (0, 1)]
        def time(c):
            return math.exp(0.3 * (math.log2(c[0]) - 5) ** 2 + 0.2 * (math.log2(c[1]) - 2) ** 2 +
                            0.1 * abs(c[2] - 6) + 0.2 * c[3])
        best = min(map(time, table))
        counts = []
        for seed in range(3):
            random = numpy.random.default_rng(seed)
            surrogate = Surrogate(features_of(table, names))
            for count in range(1, len(table)):
                index = surrogate.next(random)
                surrogate.add(index, math.log(time(table[index])))
                if time(table[index]) <= best / 0.95:
                    break
            counts.append(count)
        self.assertLess(max(counts), 60)  # a sample needs some hundreds: a handful of 768 are as good


if __name__ == "__main__":
    unittest.main()
