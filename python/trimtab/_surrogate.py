# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What configurations not tried yet may take, by those that were: a Gaussian process over a finite list of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy
from scipy.linalg import solve_triangular

# Logarithms of times scatter by so much from run to run.
NOISE = 0.02
# Points at which length scales are fitted first, and then whenever there are half as many again.
FIRST_FIT = 8
MOST_FITTED = 64
FACTORS = (0.5, 2.0, 4.0)
# How many standard deviations below the mean a configuration is hoped to be.
HOPE = 1.0


def features_of(configurations: Sequence[Sequence[Any]], names: Sequence[str]) -> numpy.ndarray:
    """A row a configuration, in steps that matter about as much as each other: logarithms of sizes, flags as they are."""
    columns = []
    table = list(zip(*configurations))
    for values in table:
        numeric = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
        distinct = sorted(set(values), key=repr)
        if not numeric:
            columns += [[float(value == one) for value in values] for one in distinct[1:]]
        elif min(values) > 0 and len(distinct) > 2:
            columns.append([math.log2(value) for value in values])
        else:
            spread = max(values) - min(values)
            columns.append([(value - min(values)) / spread if spread else 0.0 for value in values])
    def product(part: str) -> list[float]:
        chosen = [values for name, values in zip(names, table) if part in name]
        return [math.prod(row) for row in zip(*chosen)] if chosen else [1.0] * len(configurations)
    threads = product("block_size")
    columns.append([math.log2(value) if value > 0 else 0.0 for value in threads])
    columns.append([math.log2(value) if value > 0 else 0.0 for value in product("tile_size")])
    # Lanes that the last warp of a block leaves idle.
    columns.append([math.ceil(value / 32) * 32 / value - 1 if value > 0 else 0.0 for value in threads])
    return numpy.array(columns, dtype=float).T


def correlation(points: numpy.ndarray, point: numpy.ndarray, scales: numpy.ndarray) -> numpy.ndarray:
    """Matern 5/2: times have kinks, and no two derivatives everywhere."""
    distance = numpy.sqrt(5 * (((points - point) / scales) ** 2).sum(axis=1))
    return (1 + distance + distance**2 / 3) * numpy.exp(-distance)


class Surrogate:
    """With K the correlations of the points seen, K = L L', it keeps L, and L^-1 of the correlations of all
    configurations with them: adding a point costs their number times the configurations'."""

    def __init__(self, features: numpy.ndarray) -> None:
        deviation = features.std(axis=0)
        self._features = features[:, deviation > 0] / deviation[deviation > 0]
        self._scales = numpy.full(self._features.shape[1], 2.0)
        self._nugget = NOISE**2 / 0.25  # for times that scatter by a half
        self._seen: list[int] = []
        self._values: list[float | None] = []
        self._is_open = numpy.ones(len(features), dtype=bool)
        self._lower = numpy.zeros((0, 0))
        self._across = numpy.zeros((0, len(features)))
        self._next_fit = FIRST_FIT

    def add(self, index: int, value: float | None) -> None:
        """`value`: None where the configuration does not run."""
        self._seen.append(index)
        self._values.append(value)
        self._is_open[index] = False
        self._append(index)

    def _append(self, index: int) -> None:
        count = len(self._lower)
        row = self._across[:, index]
        correlations = correlation(self._features, self._features[index], self._scales)
        diagonal = math.sqrt(max(1 + self._nugget - float(row @ row), 1e-10))
        lower = numpy.zeros((count + 1, count + 1))
        lower[:count, :count] = self._lower
        lower[count, :count], lower[count, count] = row, diagonal
        self._lower = lower
        self._across = numpy.vstack([self._across, (correlations - row @ self._across) / diagonal])

    def _residuals(self) -> numpy.ndarray:
        known = [value for value in self._values if value is not None]
        worst = max(known, default=0.0) + 1.0
        targets = numpy.array([worst if value is None else value for value in self._values])
        return targets - numpy.median(targets)

    def _likelihood(self, points: numpy.ndarray, residuals: numpy.ndarray, scales: numpy.ndarray) -> float:
        """Of the residuals, with the variance that makes it the greatest."""
        matrix = numpy.stack([correlation(points, point, scales) for point in points])
        try:
            lower = numpy.linalg.cholesky(matrix + self._nugget * numpy.eye(len(points)))
        except numpy.linalg.LinAlgError:
            return -math.inf
        solved = solve_triangular(lower, residuals, lower=True)
        variance = max(float(solved @ solved) / len(points), 1e-12)
        return -0.5 * len(points) * math.log(variance) - float(numpy.log(numpy.diag(lower)).sum())

    def _fit_scales(self, residuals: numpy.ndarray) -> None:
        """One parameter after the other, twice: which are told apart by those seen, and which matter little."""
        self._nugget = NOISE**2 / max(float(residuals.var()), NOISE**2)
        # The best of many points tell as much as all of them.
        order = numpy.argsort(residuals)[:MOST_FITTED]
        points, chosen = self._features[numpy.array(self._seen)[order]], residuals[order]
        best = self._likelihood(points, chosen, self._scales)
        for _ in range(2):
            for d in range(len(self._scales)):
                for factor in FACTORS:
                    tried = self._scales.copy()
                    tried[d] = min(max(tried[d] * factor, 0.2), 20.0)
                    if tried[d] == self._scales[d]:
                        continue
                    likelihood = self._likelihood(points, chosen, tried)
                    if likelihood > best:
                        best, self._scales = likelihood, tried
        self._lower = numpy.zeros((0, 0))
        self._across = numpy.zeros((0, len(self._features)))
        for index in self._seen:
            self._append(index)

    def next(self, random: numpy.random.Generator) -> int | None:
        """The configuration to try; None where all were."""
        remaining = numpy.flatnonzero(self._is_open)
        if len(remaining) == 0:
            return None
        if len(self._seen) < 2:
            return int(random.choice(remaining))
        residuals = self._residuals()
        if len(self._seen) >= self._next_fit:
            self._fit_scales(residuals)
            self._next_fit = len(self._seen) * 3 // 2
        solved = solve_triangular(self._lower, residuals, lower=True)
        variance = max(float(solved @ solved) / len(solved), 1e-6)
        mean = solved @ self._across
        deviation = numpy.sqrt(numpy.maximum(variance * (1 - (self._across**2).sum(axis=0)), 1e-12))
        hoped = (mean - HOPE * deviation)[remaining]
        return int(remaining[int(numpy.argmin(hoped))])
