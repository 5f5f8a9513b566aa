# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GT4Py: stencils of a diffusion by its generator of CUDA, compiled by trimtab++ as nvcc, against numpy."""

import numpy as np
import own_toolkit

own_toolkit.use()

import gt4py.storage
from gt4py.cartesian import gtscript
from gt4py.cartesian.gtscript import PARALLEL, Field, computation, interval

BACKEND = "gt:gpu"


@gtscript.stencil(backend=BACKEND)
def diffuse(u: Field[np.float64], out: Field[np.float64], weight: np.float64):
    with computation(PARALLEL), interval(...):
        laplacian = 4.0 * u[0, 0, 0] - (u[1, 0, 0] + u[-1, 0, 0] + u[0, 1, 0] + u[0, -1, 0])
        out = u[0, 0, 0] - weight * laplacian


shape = (66, 50, 12)
start = np.sin(np.arange(np.prod(shape), dtype=np.float64)).reshape(shape)
u = gt4py.storage.from_array(start, dtype=np.float64, backend=BACKEND, aligned_index=(1, 1, 0))
out = gt4py.storage.zeros(shape, dtype=np.float64, backend=BACKEND, aligned_index=(1, 1, 0))
for _ in range(4):
    diffuse(u, out, np.float64(0.1), origin=(1, 1, 0), domain=(64, 48, 12))
    u, out = out, u
got = np.asarray(u.get() if hasattr(u, "get") else u)

expected = start.copy()
other = np.zeros(shape)
for _ in range(4):
    v = expected
    other[1:-1, 1:-1] = v[1:-1, 1:-1] - 0.1 * (4.0 * v[1:-1, 1:-1] - (v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2]))
    expected, other = other, expected
assert np.allclose(got[1:-1, 1:-1], expected[1:-1, 1:-1], rtol=1e-12), np.abs(got - expected).max()
print("PASS")
