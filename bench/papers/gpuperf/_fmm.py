# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The near-field kernel of section 6.2 with any of its optimisations, on a Tesla C2050: 14^3 boxes of 256 points."""

import collections
import functools
import itertools
import os

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fmm.cu")
BOXES, POINTS = 14, 256
# Of fmm.cu: macro -> name -> value. "trans" stores the points of shared memory as structures, so it needs that.
CHOICES = {"LAYOUT": {"": 0, "vecpack": 1, "tight": 2}, "RSQRT": {"": 0, "rsqrt": 1}, "SHMEM": {"": 0, "shmem": 1, "shmem+trans": 2},
           "UJAM": {"": 1, "ujam": 2}, "PREF": {"": 0, "pref": 1}}
BENEFITS = ("B_itilp", "B_memlp", "B_fp", "B_serial")
Timed = collections.namedtuple("Timed", "emulated equations")  # ns, and the terms of GPUPerf's equations


def name_of(macros):
    """"vecpack + shmem", or "baseline"."""
    values = [{value: name for name, value in CHOICES[macro].items()}[macros[macro]] for macro in CHOICES]
    return " + ".join(filter(None, values)) or "baseline"


def macros_of(*names):
    return {macro: next((of[name] for name in names if name in of), of[""]) for macro, of in CHOICES.items()}


def every():
    return [dict(zip(CHOICES, values)) for values in itertools.product(*(of.values() for of in CHOICES.values()))]


@functools.cache
def _timed(trimtab, values):
    macros = dict(zip(CHOICES, values))
    program = trimtab.object(SOURCE, "fmm" + "_".join(map(str, values)) + ".o", f"-DTARGETS={POINTS}",
                             *(f"-D{macro}={value}" for macro, value in macros.items()))
    launch = (program, "fmm", "c2050", (BOXES,) * 3, (POINTS // macros["UJAM"],), {"side": BOXES + 2})
    return Timed(trimtab.launch("emulate", *launch, "--no-sensitivity")["ns"], trimtab.launch("predict", *launch)["gpuperf_ns"])


def timed(trimtab, macros):
    return _timed(trimtab, tuple(macros[macro] for macro in CHOICES))
