# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyCUDA: SourceModule (launches at once and prepared), arrays, element-wise and reduction kernels; results against NumPy."""

import numpy as np
import pycuda.autoinit, pycuda.driver as drv, pycuda.gpuarray as ga
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel

m = SourceModule("""
__global__ void saxpy(float a, const float* x, float* y, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
__global__ void stencil(const float* u, float* v, int w, int h) {
    int i = blockDim.x * blockIdx.x + threadIdx.x, j = blockDim.y * blockIdx.y + threadIdx.y;
    if (i > 0 && j > 0 && i < w - 1 && j < h - 1)
        v[j * w + i] = .25f * (u[j * w + i - 1] + u[j * w + i + 1] + u[(j - 1) * w + i] + u[(j + 1) * w + i]);
}
__global__ void mm(const float* a, const float* b, float* c, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x, j = blockDim.y * blockIdx.y + threadIdx.y;
    if (i < n && j < n) { float s = 0; for (int k = 0; k < n; k++) s += a[j * n + k] * b[k * n + i]; c[j * n + i] = s; }
}""")
r = np.random.default_rng(1)
n = 100000
x = r.random(n, dtype=np.float32)
y = r.random(n, dtype=np.float32)
z = y.copy()
m.get_function("saxpy")(
    np.float32(2), drv.In(x), drv.InOut(z), np.int32(n), block=(256, 1, 1), grid=((n + 255) // 256, 1)
)
np.testing.assert_allclose(z, 2 * x + y, rtol=1e-6)
f = m.get_function("saxpy")
f.prepare("fPPi")
X, Y = ga.to_gpu(x), ga.to_gpu(y)
f.prepared_call(((n + 255) // 256, 1), (256, 1, 1), np.float32(2), X.gpudata, Y.gpudata, n)
np.testing.assert_allclose(Y.get(), 2 * x + y, rtol=1e-6)
u = r.random((300, 400), dtype=np.float32)
v = np.zeros_like(u)
m.get_function("stencil")(drv.In(u), drv.InOut(v), np.int32(400), np.int32(300), block=(16, 16, 1), grid=(25, 19))
e = np.zeros_like(u)
e[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
np.testing.assert_allclose(v, e, rtol=1e-5)
k = 96
a = r.random((k, k), dtype=np.float32)
b = r.random((k, k), dtype=np.float32)
c = np.zeros_like(a)
m.get_function("mm")(drv.In(a), drv.In(b), drv.Out(c), np.int32(k), block=(16, 16, 1), grid=(6, 6))
np.testing.assert_allclose(c, a @ b, rtol=1e-4)
np.testing.assert_allclose((2 * X + 1).get(), 2 * x + 1, rtol=1e-6)
np.testing.assert_allclose(ga.sum(X).get(), x.sum(), rtol=1e-4)
lin = ElementwiseKernel("float a, float *x, float *y, float *z", "z[i] = a*x[i] + y[i]", "lin")
Z = ga.empty_like(X)
lin(3, X, Y, Z)
np.testing.assert_allclose(Z.get(), 3 * x + Y.get(), rtol=1e-5)
dot = ReductionKernel(np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*y[i]", arguments="float *x, float *y")
np.testing.assert_allclose(dot(X, X).get(), (x * x).sum(), rtol=1e-4)
print("PASS")
