# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Warp: saxpy, a stencil, a sum by atomics, a matrix product; results against NumPy."""

import numpy as np
import warp as wp

wp.config.cuda_output = "ptx"  # its own copy of NVRTC makes machine code else
wp.init()


@wp.kernel
def saxpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def stencil(u: wp.array2d(dtype=float), v: wp.array2d(dtype=float)):
    i, j = wp.tid()
    if i > 0 and j > 0 and i < u.shape[0] - 1 and j < u.shape[1] - 1:
        v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


@wp.kernel
def total(x: wp.array(dtype=float), s: wp.array(dtype=float)):
    wp.atomic_add(s, 0, x[wp.tid()])


@wp.kernel
def matmul(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
    i, j = wp.tid()
    s = float(0.0)
    for k in range(a.shape[1]):
        s += a[i, k] * b[k, j]
    c[i, j] = s


dev = wp.get_device("cuda:0")
r = np.random.default_rng(1)
with wp.ScopedDevice(dev):
    x = r.random(100000, dtype=np.float32)
    y = r.random(100000, dtype=np.float32)
    X = wp.array(x, dtype=float)
    Y = wp.array(y, dtype=float)
    wp.launch(saxpy, dim=x.size, inputs=[2.0, X, Y])
    np.testing.assert_allclose(Y.numpy(), 2 * x + y, rtol=1e-6)
    u = r.random((300, 400), dtype=np.float32)
    V = wp.zeros((300, 400), dtype=float)
    wp.launch(stencil, dim=u.shape, inputs=[wp.array(u, dtype=float), V])
    e = np.zeros_like(u)
    e[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    np.testing.assert_allclose(V.numpy(), e, rtol=1e-5)
    S = wp.zeros(1, dtype=float)
    wp.launch(total, dim=x.size, inputs=[X, S])
    np.testing.assert_allclose(S.numpy()[0], x.sum(), rtol=1e-3)
    a = r.random((64, 96), dtype=np.float32)
    b = r.random((96, 80), dtype=np.float32)
    C = wp.zeros((64, 80), dtype=float)
    wp.launch(matmul, dim=(64, 80), inputs=[wp.array(a, dtype=float), wp.array(b, dtype=float), C])
    np.testing.assert_allclose(C.numpy(), a @ b, rtol=1e-4)
print("PASS")
