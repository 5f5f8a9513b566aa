# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the programs are, and how they are run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, Union

PathLike = Union[str, "os.PathLike[str]"]


class TrimtabError(RuntimeError):
    """What the program said in the place of an answer. `exit_code`: 1 the answer is no, 2 wrong usage, 3 bad input."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def version() -> str:
    try:
        return metadata.version("trimtab")
    except metadata.PackageNotFoundError:  # from the sources
        return "0"


def prefix() -> Path | None:
    """The folder with bin/, lib/ and include/: the wheel's own, or TRIMTAB_PREFIX."""
    named = os.environ.get("TRIMTAB_PREFIX")
    own = Path(named) if named else Path(__file__).parent / "prefix"
    return own if (own / "bin").is_dir() else None


def tool_path(name: str = "trimtab") -> str:
    """The program: of the wheel, of TRIMTAB_PREFIX, or on PATH."""
    folder = prefix()
    if folder and (folder / "bin" / name).is_file():
        return str(folder / "bin" / name)
    found = shutil.which(name)
    # The wheel's own entry point is a script that would call this again.
    if found and Path(found).read_bytes()[:4] == b"\x7fELF":
        return found
    raise TrimtabError(f"{name} is neither in the package, in TRIMTAB_PREFIX, nor on PATH", 3)


def environment() -> dict[str, str]:
    """This process's, with the CUDA toolkit of NVIDIA's wheels where no other is named."""
    variables = dict(os.environ)
    if "CUDA_HOME" in variables or "CUDA_PATH" in variables:
        return variables
    try:
        import nvidia  # type: ignore[import-not-found]  # a namespace of all of NVIDIA's wheels
    except ImportError:
        return variables
    for folder in nvidia.__path__:
        toolkit = Path(folder) / "cu13"
        if (toolkit / "include" / "cuda_runtime_api.h").is_file():
            variables["CUDA_HOME"] = str(toolkit)
            break
    return variables


def run(arguments: Sequence[PathLike], *, answers: Sequence[int] = (0,)) -> Any:
    """`trimtab ARGUMENTS`, with --json among them, read. `answers`: the exit codes that come with JSON."""
    done = subprocess.run([tool_path(), *(os.fspath(word) for word in arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, env=environment(), check=False)
    if done.returncode not in answers:
        said = done.stderr.strip().splitlines()
        raise TrimtabError(said[-1] if said else f"trimtab ended with status {done.returncode}", done.returncode)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError as error:
        raise TrimtabError(f"trimtab printed no JSON: {error}", done.returncode) from error


def launch_options(*, kernel: str | None, device: PathLike | None, args: Mapping[str | int, object] | None,
                   grid: Sequence[int] | None = None, block: Sequence[int] | None = None,
                   extent: Sequence[int] | None = None) -> list[str]:
    """The options that say which launch is meant."""
    options: list[str] = []
    if kernel is not None:
        options += ["--kernel", kernel]
    if device is not None:
        options += ["--device", os.fspath(device)]
    for name, value in (args or {}).items():
        options += ["--arg", f"{name}={int(value) if isinstance(value, bool) else value}"]
    for name, sizes in (("--grid", grid), ("--block", block), ("--extent", extent)):
        if sizes is not None:
            options += [name, ",".join(str(size) for size in sizes)]
    return options
