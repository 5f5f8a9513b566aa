# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyOpenCL: arrays, element-wise, reduction and scan kernels, a stencil; results against NumPy."""

import numpy as np, pyopencl as cl, pyopencl.array as ca
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import GenericScanKernel

ctx = cl.create_some_context(interactive=False)
q = cl.CommandQueue(ctx)
r = np.random.default_rng(1)
x = r.random(50000, dtype=np.float32)
y = r.random(50000, dtype=np.float32)
X = ca.to_device(q, x)
Y = ca.to_device(q, y)
np.testing.assert_allclose((2 * X + Y).get(), 2 * x + y, rtol=1e-6)
lin = ElementwiseKernel(ctx, "float a, float *x, float *y, float *z", "z[i] = a*x[i] + y[i]", "lin")
Z = ca.empty_like(X)
lin(3, X, Y, Z)
np.testing.assert_allclose(Z.get(), 3 * x + y, rtol=1e-5)
np.testing.assert_allclose(ca.sum(X).get(), x.sum(), rtol=1e-4)
dot = ReductionKernel(
    ctx,
    np.float32,
    neutral="0",
    reduce_expr="a+b",
    map_expr="x[i]*y[i]",
    arguments="__global float *x, __global float *y",
)
np.testing.assert_allclose(dot(X, X).get(), (x * x).sum(), rtol=1e-4)
k = GenericScanKernel(
    ctx,
    np.int32,
    arguments="__global int *a",
    input_expr="a[i]",
    scan_expr="a+b",
    neutral="0",
    output_statement="a[i] = item;",
)
o = ca.to_device(q, np.ones(3000, np.int32))
k(o)
assert (o.get() == np.arange(1, 3001)).all()
p = cl.Program(
    ctx,
    """__kernel void st(__global const float *u, __global float *v, int w, int h) {
 int i = get_global_id(0), j = get_global_id(1);
 if (i > 0 && j > 0 && i < w-1 && j < h-1) v[j*w+i] = .25f*(u[j*w+i-1]+u[j*w+i+1]+u[(j-1)*w+i]+u[(j+1)*w+i]); }""",
).build()
u = r.random((300, 400), dtype=np.float32)
U = ca.to_device(q, u)
V = ca.zeros_like(U)
p.st(q, (400, 304), (16, 16), U.data, V.data, np.int32(400), np.int32(300))
e = np.zeros_like(u)
e[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
np.testing.assert_allclose(V.get(), e, rtol=1e-5)
print("PASS")
