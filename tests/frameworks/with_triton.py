# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton without PyTorch: saxpy, a sum, a matrix product; results against NumPy."""

import ctypes, numpy as np, triton, triton.language as tl

cu = ctypes.CDLL("libcuda.so.1")


def ok(s):
    assert s == 0, s


ok(cu.cuInit(0))
ctx = ctypes.c_void_p()
ok(cu.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), 0))
ok(cu.cuCtxSetCurrent(ctx))


class Array:
    def __init__(s, a):
        s.a = np.ascontiguousarray(a)
        p = ctypes.c_uint64()
        ok(cu.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(s.a.nbytes)))
        s.p = p
        ok(cu.cuMemcpyHtoD_v2(p, s.a.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(s.a.nbytes)))
        s.dtype = tl.float32

    def data_ptr(s):
        return s.p.value

    def get(s):
        o = np.empty_like(s.a)
        ok(cu.cuMemcpyDtoH_v2(o.ctypes.data_as(ctypes.c_void_p), s.p, ctypes.c_size_t(o.nbytes)))
        return o


@triton.jit
def saxpy(x, y, a, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(y + i, a * tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n, other=0.0), axis=0))


@triton.jit
def matmul(a, b, c, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    s = tl.zeros((B, B), dtype=tl.float32)
    for k in range(0, n, B):
        l = k + tl.arange(0, B)
        s += tl.dot(
            tl.load(a + i[:, None] * n + l[None, :]), tl.load(b + l[:, None] * n + j[None, :]), input_precision="ieee"
        )
    tl.store(c + i[:, None] * n + j[None, :], s)


r = np.random.default_rng(1)
n = 10000
x = r.random(n, dtype=np.float32)
y = r.random(n, dtype=np.float32)
X, Y, S = Array(x), Array(y), Array(np.zeros(1, np.float32))
saxpy[(triton.cdiv(n, 256),)](X, Y, 2.0, n, BLOCK=256)
np.testing.assert_allclose(Y.get(), 2 * x + y, rtol=1e-6)
total[(triton.cdiv(n, 256),)](X, S, n, BLOCK=256)
np.testing.assert_allclose(S.get()[0], x.sum(), rtol=1e-4)
k = 64
a = r.random((k, k), dtype=np.float32)
b = r.random((k, k), dtype=np.float32)
C = Array(np.zeros((k, k), np.float32))
matmul[(2, 2)](Array(a), Array(b), C, k, B=32)
np.testing.assert_allclose(C.get(), a @ b, rtol=1e-4)
print("PASS")
