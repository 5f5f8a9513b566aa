# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""For frameworks that call nvcc: a CUDA toolkit whose nvcc is trimtab++, in a folder beside the program."""

import os
import pathlib
import shutil


def use():
    toolkit = pathlib.Path("toolkit").absolute()
    shutil.rmtree(toolkit, ignore_errors=True)
    (toolkit / "bin").mkdir(parents=True)
    (toolkit / "bin" / "nvcc").symlink_to(pathlib.Path(os.environ["BUILD"]) / "bin" / "trimtab++")
    for part in ("bin/ptxas", "bin/nvlink", "bin/fatbinary", "include", "lib64", "nvvm"):
        (toolkit / part).symlink_to(pathlib.Path(os.environ["CUDA_PATH"]) / part)
    os.environ |= {name: str(toolkit) for name in ("CUDA_PATH", "CUDA_HOME", "CUDA_ROOT")}
    os.environ["PATH"] = f"{toolkit / 'bin'}:{os.environ['PATH']}"
