# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pystencils: a stencil over arrays of CuPy; results against NumPy."""

import numpy as np, pystencils as ps

src, dst = ps.fields("src, dst: double[2D]")
h = 0.1
asg = ps.Assignment(dst[0, 0], (src[1, 0] + src[-1, 0] + src[0, 1] + src[0, -1]) / 4)
cfg = (
    ps.CreateKernelConfig(target=ps.Target.CUDA)
    if hasattr(ps.Target, "CUDA")
    else ps.CreateKernelConfig(target=ps.Target.GPU)
)
k = ps.create_kernel(asg, cfg).compile()
import cupy as cp

u = np.random.default_rng(1).random((300, 400))
d = cp.zeros_like(cp.asarray(u))
k(src=cp.asarray(u), dst=d)
e = np.zeros_like(u)
e[1:-1, 1:-1] = (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]) / 4
np.testing.assert_allclose(cp.asnumpy(d), e, rtol=1e-12)
print("PASS")
