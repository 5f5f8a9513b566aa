#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bottlenecks.py BUILD SAMPLES: trimtab emulate names what limits each sample, and the three changes to the contraction
move it as SAAKE's table 4 has it (on Kepler: global memory's throughput, its latency with the special function unit in
use for divisions, its latency without, its throughput again)."""

import json
import os
import subprocess
import sys
import tempfile

BUILD, SAMPLES = sys.argv[1:]
GLOBAL_MEMORY = ("l1", "l2", "dram")
CONTRACTION = [f"--arg={name}=16" for name in ("h1", "h2", "h3", "h7", "p4", "p5", "p6")]
LITERAL = """
__global__ void scaled(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i];
    for (int k = 0; k < 64; ++k) x = x * FACTOR + 1.5f;
    out[i] = x;
}
"""


def build(folder, source, name, flags=()):
    path = os.path.join(folder, name)
    subprocess.run([f"{BUILD}/bin/trimtab++", "-O3", "--trimtab-quiet", "--trimtab-profile=off", *flags, source, "-o",
                    path], check=True)
    return path


def emulate(path, kernel, device, grid, block, *arguments):
    done = subprocess.run([f"{BUILD}/bin/trimtab", "emulate", path, "--kernel", kernel, "--device", device, "--grid",
                           grid, "--block", block, "--json", *arguments], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def share(answer, mode, resources):
    return sum(one["sensitivity"] for one in answer["sensitivity"]
               if one["mode"] == mode and one["resource"] in resources)


def first(answer):
    return answer["sensitivity"][0]["resource"], answer["sensitivity"][0]["mode"]


def expect(holds, what, *seen):
    if not holds:
        sys.exit(f"{what}: {seen}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        atax = build(folder, f"{SAMPLES}/polybench/atax.cu", "atax.o", ["-c"])
        for nx in (4096, 8192, 16384):
            rows = emulate(atax, "atax_kernel1", "rtx2070super", str(nx // 256), "256", f"--arg=NX={nx}", "--arg=NY=4096")
            expect(first(rows)[0] in GLOBAL_MEMORY and first(rows)[1] == "throughput",
                   f"ATAX 1 of {nx} is not limited by global memory's throughput", rows["sensitivity"][:3])
            expect(all(one["sensitivity"] <= 1 for one in rows["sensitivity"]), "more than all of the time",
                   rows["sensitivity"][:3])
        columns = emulate(atax, "atax_kernel2", "rtx2070super", "1", "256", "--arg=NX=256", "--arg=NY=256")
        expect(first(columns)[1] == "latency", "ATAX 2 of 256 is not limited by a latency", columns["sensitivity"][:3])

        special = build(folder, f"{SAMPLES}/more/special_functions.cu", "special.o", ["-c"])
        answer = emulate(special, "oscillations", "rtx2070super", "4096", "256", "--arg=n=1048576")
        expect(first(answer) == ("special_function", "throughput"), "oscillations", answer["sensitivity"][:3])

        with open(os.path.join(folder, "literal.cu"), "w") as file:
            file.write(LITERAL)
        for factor, is_double in (("1.01", True), ("1.01f", False)):
            scaled = build(folder, file.name, f"literal_{is_double}.o", ["-c", f"-DFACTOR={factor}"])
            answer = emulate(scaled, "scaled", "rtx2070super", "4096", "256", "--arg=n=1048576")
            expect((first(answer) == ("fp64", "throughput")) == is_double, f"a factor of {factor}",
                   answer["sensitivity"][:3])

        steps = []
        for changes in range(4):
            program = build(folder, f"{SAMPLES}/more/contraction.cu", f"contraction{changes}", [f"-DCHANGES={changes}"])
            subprocess.run([program, "5"], check=True, capture_output=True,
                           env=os.environ | {"TRIMTAB": "off", "TRIMTAB_DEVICE": "k20c"})
            steps.append(emulate(program, "contraction", "k20c", "64,64", "16,16", *CONTRACTION))
        times = [step["ns"] for step in steps]
        throughput = [share(step, "throughput", GLOBAL_MEMORY) for step in steps]
        latency = [share(step, "latency", GLOBAL_MEMORY) for step in steps]
        divides = ["special_function" in step["resources"] for step in steps]
        # The last change trades waiting for traffic, and is worth little here.
        expect(times[0] > times[1] > times[2] and times[3] < 1.01 * times[2], "a change does not pay", times)
        expect(first(steps[0])[0] in GLOBAL_MEMORY and throughput[0] > 0.5 > 0.1 > latency[0], "as it was", throughput,
               latency)
        expect(throughput[1] < throughput[0] / 2 and first(steps[1])[1] == "latency", "after one change", throughput,
               latency)
        expect(divides == [True, True, False, False], "divisions", divides)
        expect(first(steps[2])[1] == "latency" and latency[2] >= latency[1], "after two changes", throughput, latency)
        expect(latency[3] < latency[2] / 2 and throughput[3] > throughput[2], "after three changes", throughput, latency)
    print("the contraction:", ", ".join(f"{time / 1e3:.0f} us (throughput {t:.2f}, latency {l:.2f})"
                                        for time, t, l in zip(times, throughput, latency)))


if __name__ == "__main__":
    main()
