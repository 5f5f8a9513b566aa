# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reikna on PyOpenCL: kernels from templates (matrix product, transposition, reduction, scan, FFT, an element-wise map); results
against NumPy."""

import numpy as np
from reikna import cluda
from reikna.algorithms import PureParallel, Reduce, Scan, Transpose, predicate_sum
from reikna.core import Annotation, Parameter, Type
from reikna.fft import FFT
from reikna.linalg import MatrixMul

thread = cluda.ocl_api().Thread.create()
r = np.random.default_rng(1)


def run(computation, *arrays):
    out = thread.empty_like(computation.parameter.output)
    computation.compile(thread)(out, *arrays)
    return out.get()


a = r.random((70, 45), dtype=np.float32)
b = r.random((45, 33), dtype=np.float32)
A, B = thread.to_device(a), thread.to_device(b)
np.testing.assert_allclose(run(MatrixMul(A, B), A, B), a @ b, rtol=1e-5)
np.testing.assert_array_equal(run(Transpose(A), A), a.T)
np.testing.assert_allclose(run(Reduce(A, predicate_sum(np.float32), axes=(0,)), A), a.sum(0), rtol=1e-5)
i = np.arange(3000, dtype=np.int32)
np.testing.assert_array_equal(run(Scan(thread.to_device(i), predicate_sum(np.int32)), thread.to_device(i)), i.cumsum())
z = (r.random((4, 256)) + 1j * r.random((4, 256))).astype(np.complex64)
np.testing.assert_allclose(run(FFT(z, axes=(1,)), thread.to_device(z)), np.fft.fft(z), rtol=1e-3, atol=1e-3)
square = PureParallel(
    [
        Parameter("output", Annotation(Type(np.float32, (1000, 60)), "o")),
        Parameter("input", Annotation(Type(np.float32, (1000, 60)), "i")),
    ],
    "${output.store_same}(${input.load_same} * ${input.load_same});",
)
x = r.random((1000, 60), dtype=np.float32)
np.testing.assert_array_equal(run(square, thread.to_device(x)), x * x)
print("PASS")
