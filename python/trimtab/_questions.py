# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trimtab._answers import (
    Advice,
    Block,
    Candidate,
    Choice,
    Emulation,
    Finding,
    Kernel,
    Prediction,
    Pruned,
    block_of,
)
from trimtab._tools import PathLike, launch_options, run

Arguments = Mapping["str | int", object]  # by the source's names, or by index; pointers may be left out


def devices() -> list[dict[str, Any]]:
    """The GPUs that are described."""
    return list(run(["devices", "--json"]))


def describe(file: PathLike, kernel: str | None = None) -> list[Kernel]:
    """The kernels of a file: what they are, and whether their blocks may change."""
    options = launch_options(kernel=kernel, device=None, args=None)
    kernels = []
    for entry in run(["inspect", file, *options, "--json"])["kernels"]:
        about = entry["description"]
        kernels.append(Kernel(name=about["demangled"], mangled=about["name"], source=about.get("source", ""),
                              verdict=about["verdict"], data=tuple(about["data"]),
                              reasons=tuple(reason["text"] for reason in about["reasons"]), json=entry))
    return kernels


def select(file: PathLike, *, device: PathLike = "rtx2070super", kernel: str | None = None,
           args: Arguments | None = None, extent: Sequence[int] | None = None, grid: Sequence[int] | None = None,
           block: Sequence[int] | None = None, candidates: Iterable[Sequence[int]] | None = None) -> Choice:
    """The block that a launch of so many threads (`extent`), or one written so (`grid`, `block`), would get; of
    `candidates` alone, where they are named. Raises with exit_code 1 where the launch keeps its block."""
    options = launch_options(kernel=kernel, device=device, args=args, grid=grid, block=block, extent=extent)
    if candidates is not None:
        options += ["--candidates", ";".join(",".join(map(str, sizes)) for sizes in candidates)]
    json = run(["select", file, *options, "--json"])
    ranking = tuple(Candidate(block_of(one), one["ns"], one.get("metrics", {})) for one in json["ranking"])
    chosen: Block = block_of(json["chosen"])
    time_ns = next(one.time_ns for one in ranking if one.block == chosen)
    return Choice(json["kernel"], json["device"], chosen, time_ns, ranking, json)


def predict(file: PathLike, *, grid: Sequence[int], block: Sequence[int], device: PathLike = "rtx2070super",
            kernel: str | None = None, args: Arguments | None = None, measure: bool = False) -> Prediction:
    """The launch's time by the model; `measure`: of counts of this very launch, emulated, where fits would do."""
    options = launch_options(kernel=kernel, device=device, args=args, grid=grid, block=block)
    json = run(["predict", file, *options, *(["--measure"] if measure else []), "--json"])
    return Prediction(json["kernel"], json["device"], json["ns"], json["occupancy"]["fraction"], json)


def emulate(file: PathLike, *, grid: Sequence[int], block: Sequence[int], device: PathLike = "rtx2070super",
            kernel: str | None = None, args: Arguments | None = None) -> Emulation:
    """The launch, abstractly emulated: warps on an SM, and what limits them."""
    options = launch_options(kernel=kernel, device=device, args=args, grid=grid, block=block)
    json = run(["emulate", file, *options, "--json"])
    return Emulation(json["kernel"], json["device"], json["ns"], json["cycles"], json)


def prune(file: PathLike | None = None, *, global_size: Sequence[int] | None = None, capture: PathLike | None = None,
          device: PathLike | None = None, kernel: str | None = None, args: Arguments | None = None,
          block: Sequence[int] | None = None) -> Pruned:
    """The block of the least simulated time, by the kernel's code: of a launch of `global_size` threads or items, or of a
    captured launch with its arrays' contents. `block`: as it is written, to be shown beside (`json`, "others")."""
    if (file is None) == (capture is None):
        raise ValueError("either a file or a capture is wanted")
    options = launch_options(kernel=kernel, device=device, args=args, block=block)
    if global_size is not None:
        options += ["--global", ",".join(map(str, global_size))]
    command: list[PathLike] = ["prune", *([file] if file is not None else ["--capture", capture]), *options, "--json"]
    json = run(command)
    ranking = tuple(((one["x"], one["y"], one["z"]), one["ns"]) for one in json["ranking"])
    return Pruned(json["kernel"], json["device"], *ranking[0], ranking, json)


def advise(file: PathLike | None = None, *, program: Sequence[PathLike] | None = None,
           grid: Sequence[int] | None = None, block: Sequence[int] | None = None,
           device: PathLike = "rtx2070super", kernel: str | None = None, args: Arguments | None = None) -> Advice:
    """Advice on one launch of a file's kernel, or on all launches of a program that is run on the emulator."""
    if (file is None) == (program is None):
        raise ValueError("either a file or a program is wanted")
    options = launch_options(kernel=kernel, device=device, args=args, grid=grid, block=block)
    command: list[PathLike] = ["advise", *([file] if file is not None else []), *options, "--json"]
    if program is not None:
        command += ["--", *program]
    json = run(command)
    found = [*json["program_findings"], *(one for kernel_json in json["kernels"] for one in kernel_json["findings"])]
    return Advice(json["device"], json["total_ns"], tuple(map(_finding, found)), json)


def _finding(json: dict[str, Any]) -> Finding:
    places = [": ".join(filter(None, (one.get("source"), one["text"]))) for one in json["evidence"]]
    return Finding(json["rule"], "; ".join([json["title"], *places]), json["remedy"], json["gain"], json)
