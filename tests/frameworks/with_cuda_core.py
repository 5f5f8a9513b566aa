# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cuda.core: a program of NVRTC, two kernels; and the bindings of CUDA's runtime; results against NumPy."""

import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch, LegacyPinnedMemoryResource

dev = Device()
dev.set_current()
s = dev.create_stream()
code = """
template<typename T> __global__ void saxpy(const T a, const T* x, T* y, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
template<typename T> __global__ void stencil(const T* u, T* v, int w, int h) {
    int i = blockDim.x * blockIdx.x + threadIdx.x, j = blockDim.y * blockIdx.y + threadIdx.y;
    if (i > 0 && j > 0 && i < w - 1 && j < h - 1)
        v[j * w + i] = .25f * (u[j * w + i - 1] + u[j * w + i + 1] + u[(j - 1) * w + i] + u[(j + 1) * w + i]);
}"""
arch = "".join(map(str, dev.compute_capability))
p = Program(code, code_type="c++", options=ProgramOptions(std="c++17", arch=f"sm_{arch}"))
m = p.compile("cubin", name_expressions=("saxpy<float>", "stencil<float>"))
pin = LegacyPinnedMemoryResource()


def buf(a):
    b = pin.allocate(a.nbytes, stream=s)
    v = np.from_dlpack(b).view(a.dtype)[: a.size].reshape(a.shape)
    v[...] = a
    return b, v


n = 50000
r = np.random.default_rng(1)
x = r.random(n, dtype=np.float32)
y = r.random(n, dtype=np.float32)
X, xv = buf(x)
Y, yv = buf(y)
launch(
    s, LaunchConfig(grid=(n + 255) // 256, block=256), m.get_kernel("saxpy<float>"), np.float32(2), X, Y, np.uint64(n)
)
s.sync()
np.testing.assert_allclose(yv, 2 * x + y, rtol=1e-6)
u = r.random((300, 400), dtype=np.float32)
U, uv = buf(u)
V, vv = buf(np.zeros_like(u))
launch(
    s, LaunchConfig(grid=(25, 19), block=(16, 16)), m.get_kernel("stencil<float>"), U, V, np.int32(400), np.int32(300)
)
s.sync()
e = np.zeros_like(u)
e[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
np.testing.assert_allclose(vv, e, rtol=1e-5)

from cuda.bindings import runtime as rt


def ok(a):
    s, *v = a
    assert int(s) == 0, s
    return v[0] if len(v) == 1 else v


x = np.arange(1000, dtype=np.float32)
y = np.zeros_like(x)
p = ok(rt.cudaMalloc(x.nbytes))
ok(rt.cudaMemcpy(p, x.ctypes.data, x.nbytes, rt.cudaMemcpyKind.cudaMemcpyHostToDevice))
ok(rt.cudaMemcpy(y.ctypes.data, p, x.nbytes, rt.cudaMemcpyKind.cudaMemcpyDeviceToHost))
assert (x == y).all()
ok(rt.cudaFree(p))
print("PASS")
