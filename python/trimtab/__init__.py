# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Questions to Trimtab about CUDA kernels, and what it answers, as Python has them.

    import trimtab
    choice = trimtab.select("gemm.cu", device="rtx2070super", args={"NI": 1024, "NJ": 1024, "NK": 1024})
    choice.block            # (32, 16, 1)
    choice.time_ns

Each function runs `trimtab` once and reads the JSON that it prints; what is not an attribute here is in `json`, as
the manual describes it. A FILE is a CUDA source, PTX, OpenCL C, or a program, library or object with device code.
"""

from trimtab._answers import (
    Advice,
    Candidate,
    Choice,
    Emulation,
    Finding,
    Kernel,
    Prediction,
    Pruned,
)
from trimtab._questions import advise, describe, devices, emulate, predict, prune, select
from trimtab._tools import TrimtabError, run, tool_path, version

__all__ = [
    "Advice", "Candidate", "Choice", "Emulation", "Finding", "Kernel", "Prediction", "Pruned", "TrimtabError",
    "advise", "describe", "devices", "emulate", "predict", "prune", "run", "select", "tool_path", "version",
]
__version__ = version()
