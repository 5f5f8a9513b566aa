# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy: kernels of its own, of the user's, and reductions; results against NumPy."""
import cupy
import numpy

x = numpy.linspace(0, 1, 5000, dtype=numpy.float32)
a = cupy.asarray(x)
numpy.testing.assert_array_equal(cupy.asnumpy(2 * a + 1), 2 * x + 1)

squared_distance = cupy.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "squared_distance")
numpy.testing.assert_array_equal(cupy.asnumpy(squared_distance(a, cupy.float32(0.5))), (x - numpy.float32(0.5)) ** 2)

scale = cupy.RawKernel(r'''
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) y[i] = 3 * x[i];
}''', "scale")
y = cupy.zeros_like(a)
for _ in range(3):
    scale(((x.size + 15) // 16,), (16,), (a, y, numpy.int32(x.size)))
numpy.testing.assert_array_equal(cupy.asnumpy(y), 3 * x)

numpy.testing.assert_allclose(float(a.sum()), x.sum(dtype=numpy.float64), rtol=1e-5)
assert int(cupy.argmax(a)) == x.size - 1
assert float(a.max()) == x.max()
numpy.testing.assert_allclose(cupy.asnumpy(a.reshape(50, 100).sum(axis=1)), x.reshape(50, 100).sum(axis=1), rtol=1e-5)
print("PASS")
