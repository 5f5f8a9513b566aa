# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""numba-cuda: a vector add and a stencil of two dimensions; results against NumPy."""
import numpy
from numba import cuda


@cuda.jit
def add(x, y, z):
    i = cuda.grid(1)
    if i < z.size:
        z[i] = x[i] + y[i]


@cuda.jit
def stencil(out, values):
    i, j = cuda.grid(2)
    if 0 < i < values.shape[0] - 1 and 0 < j < values.shape[1] - 1:
        out[i, j] = (values[i - 1, j] + values[i + 1, j] + values[i, j - 1] + values[i, j + 1]) / 4


x = numpy.arange(5000, dtype=numpy.float32)
y = 2 * x
z = cuda.device_array_like(x)
for _ in range(3):
    add[(x.size + 15) // 16, 16](cuda.to_device(x), cuda.to_device(y), z)
numpy.testing.assert_array_equal(z.copy_to_host(), x + y)

values = numpy.random.default_rng(1).random((70, 90), dtype=numpy.float64)
out = cuda.to_device(numpy.zeros_like(values))
stencil[(5, 6), (16, 16)](out, cuda.to_device(values))
expected = numpy.zeros_like(values)
expected[1:-1, 1:-1] = (values[:-2, 1:-1] + values[2:, 1:-1] + values[1:-1, :-2] + values[1:-1, 2:]) / 4
numpy.testing.assert_allclose(out.copy_to_host(), expected, rtol=1e-12)
print("PASS")
