# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernel Tuner: nine configurations of a stencil, each checked against NumPy, by every backend."""

import numpy as np
from kernel_tuner import tune_kernel

src = """
extern "C" __global__ void blur(const float* in, float* out, int width, int height) {
    int x = blockIdx.x * block_size_x + threadIdx.x, y = blockIdx.y * block_size_y + threadIdx.y;
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1)
        out[y * width + x] = .25f * (in[y * width + x - 1] + in[y * width + x + 1]
                                     + in[(y - 1) * width + x] + in[(y + 1) * width + x]);
}
"""
cl = """
__kernel void blur(__global const float* in, __global float* out, int width, int height) {
    int x = get_group_id(0) * block_size_x + get_local_id(0), y = get_group_id(1) * block_size_y + get_local_id(1);
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1)
        out[y * width + x] = .25f * (in[y * width + x - 1] + in[y * width + x + 1]
                                     + in[(y - 1) * width + x] + in[(y + 1) * width + x]);
}
"""
side = np.int32(256)
u = np.random.default_rng(1).random((256, 256), dtype=np.float32)
out = np.zeros_like(u)
e = np.zeros_like(u)
e[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4

for lang in ("CUDA", "CUPY", "NVCUDA", "OpenCL"):  # PyCUDA, CuPy, cuda-python, PyOpenCL
    results, _ = tune_kernel(
        "blur",
        cl if lang == "OpenCL" else src,
        (side, side),
        [u, out, side, side],
        {"block_size_x": [16, 32, 64], "block_size_y": [2, 4, 8]},
        lang=lang,
        answer=[None, e, None, None],
        atol=1e-5,
        iterations=3,
    )
    assert len(results) == 9 and all(isinstance(result["time"], float) for result in results), (lang, results)
print("PASS")
