# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""pyclesperanto: images of light microscopy, filtered, thresholded and labelled; results against NumPy."""

import numpy as np
import pyclesperanto as cle

cle.select_device("NVIDIA")
r = np.random.default_rng(1)
x = r.random((40, 70), dtype=np.float32)
y = r.random((40, 70), dtype=np.float32)
X, Y = cle.push(x), cle.push(y)
weighted = cle.add_images_weighted(X, Y, factor1=2, factor2=-1)
np.testing.assert_allclose(cle.pull(weighted), 2 * x - y, rtol=1e-5, atol=1e-6)
mean = cle.pull(cle.mean_filter(X, radius_x=1, radius_y=1, connectivity="box"))
around = [x[1 + i : 39 + i, 1 + j : 69 + j] for i in (-1, 0, 1) for j in (-1, 0, 1)]
np.testing.assert_allclose(mean[1:-1, 1:-1], sum(around) / 9, rtol=1e-5)
np.testing.assert_array_equal(cle.pull(cle.transpose_xy(X)), x.T)
np.testing.assert_allclose(cle.pull(cle.maximum_x_projection(X)).ravel(), x.max(1))
np.testing.assert_allclose(cle.sum_of_all_pixels(X), x.sum(), rtol=1e-4)
spots = np.zeros((30, 30), np.float32)
spots[3:9, 4:12] = 5
spots[15:20, 2:6] = 7
spots[18:28, 20:27] = 9
labels = cle.pull(cle.connected_component_labeling(cle.greater_constant(cle.push(spots), scalar=1)))
assert len(np.unique(labels)) == 4, np.unique(labels)
for value in (5, 7, 9):
    assert len(np.unique(labels[spots == value])) == 1
assert (labels[spots == 0] == 0).all()
print("PASS")
