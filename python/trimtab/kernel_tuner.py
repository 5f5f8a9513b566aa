# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trimtab for Kernel Tuner (https://github.com/KernelTuner): a search strategy, and a runner that needs no GPU.

    from kernel_tuner import tune_kernel
    from trimtab.kernel_tuner import emulated, strategy

    tune_kernel(..., strategy=strategy())                      # on the GPU, or in simulation mode
    tune_kernel(..., strategy=strategy(leaders="best.json"))   # begins with what `trimtab search` found
    with emulated(device="rtx3090"):                           # times are Trimtab's
        tune_kernel(..., strategy=strategy())

Both are made of Kernel Tuner's own interfaces (OptAlg, Runner).
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy
from kernel_tuner import util
from kernel_tuner.runners.runner import Runner
from kernel_tuner.strategies.wrapper import OptAlg, OptAlgWrapper

import trimtab
from trimtab._surrogate import Surrogate, features_of

# Where nothing is known yet: a launch of so many threads fills most GPUs (docs/tuners.md).
START_THREADS = 256
# Evaluated before the surrogate is asked: enough for a direction in each of some six parameters.
START_POINTS = 8


def strategy(leaders: str | os.PathLike[str] | Mapping[str, Any] | None = None, seed: int | None = None) -> OptAlgWrapper:
    """For tune_kernel(strategy=...). `leaders`: what `trimtab search --format kernel-tuner` wrote; they are evaluated
    first, and what they were predicted to take is compared with what they take. `seed`: else numpy's is used."""
    if leaders is not None and not isinstance(leaders, Mapping):
        leaders = json.loads(Path(leaders).read_text())
    return OptAlgWrapper(TrimtabSearch(leaders, seed))


class TrimtabSearch(OptAlg):
    """Evaluates next what promises most by those seen so far: logarithms of times, as a Gaussian process over the
    parameters, and over what every CUDA launch has: threads of a block, work of a thread, lanes of the last warp."""

    def __init__(self, leaders: Mapping[str, Any] | None = None, seed: int | None = None) -> None:
        super().__init__()
        self.leaders = leaders
        self.seed = seed

    def __call__(self, func: Any, searchspace: Any) -> tuple[tuple[Any, ...], float]:
        random = numpy.random.default_rng(self.seed if self.seed is not None else numpy.random.randint(2**31))
        configurations = list(searchspace.list)
        names = list(searchspace.tune_params)
        features = features_of(configurations, names)
        surrogate = Surrogate(features)
        best: tuple[tuple[Any, ...], float] = (tuple(configurations[0]), math.inf)
        waiting = self._start(configurations, names, features, random)
        for _ in range(len(configurations)):
            index = waiting.pop(0) if waiting else surrogate.next(random)
            if index is None:
                break
            value = func(configurations[index])
            surrogate.add(index, math.log(value) if 0 < value < 1e300 else None)
            if value < best[1]:
                best = tuple(configurations[index]), value
        return best

    def _start(self, configurations: list[Any], names: list[str], features: numpy.ndarray,
               random: numpy.random.Generator) -> list[int]:
        """Leaders in their order; then one of some 256 threads, and others far from each other."""
        places = {tuple(configuration): i for i, configuration in enumerate(configurations)}
        order: list[int] = []
        if self.leaders is not None:
            for entry in sorted(self.leaders["cache"].values(), key=lambda entry: entry["time"]):
                place = places.get(tuple(entry.get(name) for name in names))
                if place is not None and place not in order:
                    order.append(place)
        threads = numpy.array([math.prod(c[i] for i, name in enumerate(names) if name.startswith("block_size"))
                               for c in configurations], dtype=float)
        near = numpy.flatnonzero(numpy.abs(numpy.log2(threads / START_THREADS)) <= 1)
        pool = near if len(near) >= START_POINTS else numpy.arange(len(configurations))
        while len(order) < START_POINTS and len(order) < len(pool):
            if not order:
                order.append(int(random.choice(pool)))
                continue
            # Of some, the one that lies farthest from those taken: not the space's corners, which are seldom good.
            some = random.choice(pool, size=min(len(pool), 24), replace=False)
            distance = numpy.min(numpy.linalg.norm(features[some][:, None] - features[order][None], axis=2), axis=1)
            chosen = int(some[int(numpy.argmax(distance))])
            if chosen in order:
                break
            order.append(chosen)
        return order


class EmulationRunner(Runner):
    """Kernel Tuner's runner interface, where times are those of abstract emulation: no GPU, no data on one."""

    def __init__(self, kernel_source: Any, kernel_options: Any, device_options: Any, *, device: str) -> None:
        super().__init__()
        self.kernel_source = kernel_source
        self.kernel_options = kernel_options
        self.quiet = device_options.quiet
        self.simulation_mode = False
        self.units = {"time": "ms"}
        about = next((one for one in trimtab.devices() if device in (one["slug"], one["name"], *one["aliases"])), None)
        if about is None:
            raise ValueError(f"there is no device {device}: trimtab devices lists them")
        self.slug = about["slug"]
        self.name = about["name"]
        self.max_threads = int(about["values"].get("max_threads_per_block", 1024))

    def get_device_info(self) -> Any:
        return self

    def get_environment(self, tuning_options: Any = None) -> dict[str, Any]:
        return {"device_name": self.name, "by": "trimtab's abstract emulation", "trimtab": trimtab.version()}

    def run(self, parameter_space: Sequence[Sequence[Any]], tuning_options: Any) -> list[dict[str, Any] | None]:
        results: list[dict[str, Any] | None] = []
        for element in parameter_space:
            if tuning_options.budget.is_done():
                results.append(None)
                continue
            tuning_options.budget.add_evaluations(1)
            key = ",".join(str(value) for value in element)
            parameters = dict(zip(tuning_options.tune_params, element))
            if tuning_options.cache and key in tuning_options.cache:
                results.append(dict(tuning_options.cache[key]))
                continue
            result = parameters | self._emulate(parameters)
            if tuning_options.metrics and "__error__" not in result:
                result = util.process_metrics(result, tuning_options.metrics)
            util.print_config_output(tuning_options.tune_params, result, self.quiet, tuning_options.metrics, self.units)
            util.store_cache(key, result, tuning_options.cachefile, tuning_options.cache)
            results.append(result)
        return results

    def _emulate(self, parameters: dict[str, Any]) -> dict[str, Any]:
        options = self.kernel_options
        names = options.block_size_names or util.default_block_size_names
        threads, grid = util.setup_block_and_grid(
            options.problem_size, (options.grid_div_x, options.grid_div_y, options.grid_div_z), parameters, names)
        started = time.perf_counter()
        result: dict[str, Any] = {"compile_time": 0, "verification_time": 0, "benchmark_time": 0, "times": []}
        if math.prod(threads) > self.max_threads:
            return result | {"time": util.InvalidConfig(), "__error__": util.InvalidConfig()}
        _, text, extra_files = self.kernel_source.prepare_list_of_files(
            options.kernel_name, parameters, grid, threads, names)
        # Pointers are left out: the emulator gives them regions of their own.
        scalars = {i: argument.item() for i, argument in enumerate(options.arguments)
                   if isinstance(argument, numpy.generic)}
        try:
            with tempfile.TemporaryDirectory(prefix="trimtab-") as folder:
                source = Path(folder) / "kernel.cu"
                source.write_text(text)
                found = trimtab.emulate(source, kernel=options.kernel_name, device=self.slug, args=scalars,
                                        grid=[int(size) for size in grid], block=[int(size) for size in threads])
        except trimtab.TrimtabError as error:
            failure = util.CompilationFailedConfig() if error.exit_code == 3 else util.RuntimeFailedConfig()
            return result | {"time": failure, "__error__": failure}
        finally:
            for file in (extra_files or {}).values():
                util.delete_temp_file(file)
        milliseconds = found.time_ns / 1e6
        result["compile_time"] = 1000 * (time.perf_counter() - started)
        return result | {"time": milliseconds, "times": [milliseconds]}


@contextlib.contextmanager
def emulated(device: str) -> Iterator[None]:
    """tune_kernel() within it measures by emulating `device`. (Kernel Tuner chooses between its own runners by name;
    this one takes the place of the one that would use a GPU.)"""
    def make(kernel_source: Any, kernel_options: Any, device_options: Any, iterations: int, observers: Any) -> Runner:
        return EmulationRunner(kernel_source, kernel_options, device_options, device=device)

    with mock.patch("kernel_tuner.runners.sequential.SequentialRunner", make):
        yield
