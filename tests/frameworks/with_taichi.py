# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Taichi: fields, arrays of NumPy, a sum; results against NumPy."""

import numpy as np, taichi as ti

ti.init(arch=ti.cuda, offline_cache=False)
n = 20000
x = ti.field(ti.f32, shape=n)
y = ti.field(ti.f32, shape=n)


@ti.kernel
def saxpy(a: ti.f32):
    for i in x:
        y[i] = a * x[i] + y[i]


@ti.kernel
def stencil(u: ti.types.ndarray(), v: ti.types.ndarray()):
    for i, j in ti.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


@ti.kernel
def total() -> ti.f32:
    s = 0.0
    for i in x:
        s += x[i]
    return s


assert ti.cfg.arch == ti.cuda
r = np.random.default_rng(1)
a = r.random(n, dtype=np.float32)
b = r.random(n, dtype=np.float32)
x.from_numpy(a)
y.from_numpy(b)
saxpy(2.0)
np.testing.assert_allclose(y.to_numpy(), 2 * a + b, rtol=1e-6)
u = r.random((300, 400), dtype=np.float32)
v = np.zeros_like(u)
stencil(u, v)
e = np.zeros_like(u)
e[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
np.testing.assert_allclose(v, e, rtol=1e-5)
np.testing.assert_allclose(total(), a.sum(), rtol=1e-4)
print("PASS")
