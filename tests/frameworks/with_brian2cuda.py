# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""brian2cuda: a network of leaky neurons and synapses, built by trimtab++ as nvcc; spikes against Brian 2 on the CPU."""

import os
import shutil
import subprocess
import sys

import brian2 as b
import numpy as np
import own_toolkit

n = 2000


def simulate():
    group = b.NeuronGroup(
        n, "dv/dt = (current - v) / (10*ms) : 1\ncurrent : 1", threshold="v > 1", reset="v = 0", method="exact"
    )
    group.current = f"1.05 + 0.5 * i / {n}"
    synapses = b.Synapses(group, group, "w : 1", on_pre="v_post += w")
    synapses.connect(condition="abs(i - j) <= 2 and i != j")
    synapses.w = "0.001 * (1 + (i % 3))"
    spikes = b.SpikeMonitor(group)
    b.run(20 * b.ms)
    return group, spikes


if sys.argv[1:] == ["cpu"]:
    b.prefs.codegen.target = "numpy"
    group, spikes = simulate()
    np.savez("cpu.npz", i=spikes.i[:], t=spikes.t[:] / b.ms, v=group.v[:])
    sys.exit()
subprocess.run([sys.executable, __file__, "cpu"], check=True, env=os.environ | {"TRIMTAB": "off"})

own_toolkit.use()

import brian2cuda  # noqa: E402, F401  it reads the environment

settings = b.prefs.devices.cuda_standalone.cuda_backend
settings.detect_gpus = False
settings.gpu_id = 0
settings.compute_capability = 7.5
# CUDA 13's headers need C++17; brian2cuda writes C++11 into its makefile, for device code and for the host's.
settings.extra_compile_args_nvcc = ["-std=c++17", "-O2"]
b.prefs.codegen.cpp.extra_compile_args_gcc = ["-w", "-O2", "-std=c++17"]
shutil.rmtree("network", ignore_errors=True)
b.set_device("cuda_standalone", directory="network")
group, spikes = simulate()

expected = np.load("cpu.npz")
order, expected_order = np.lexsort((spikes.i[:], spikes.t[:])), np.lexsort((expected["i"], expected["t"]))
assert spikes.num_spikes == len(expected["i"]) > 500, (spikes.num_spikes, len(expected["i"]))
np.testing.assert_array_equal(spikes.i[:][order], expected["i"][expected_order])
np.testing.assert_allclose((spikes.t[:] / b.ms)[order], expected["t"][expected_order], rtol=1e-9)
np.testing.assert_allclose(group.v[:], expected["v"], rtol=1e-9, atol=1e-12)
print("PASS")
