# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The contractions of CCSD(T), sd_t_d1_1 to 9 and sd_t_d2_1 to 9, as macros of contractions.cu."""

import functools
import os

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "contractions.cu")
# t, v, and the three orders that each of holes and particles take in the result (the paper prints d1's 1, 5 and 6).
OPERANDS = {"d1": (("h7", "p4", "p5", "h1"), ("h3", "h2", "p6", "h7"), ("h3 h2 h1", "h3 h1 h2", "h1 h3 h2"), ("p6 p5 p4", "p5 p4 p6", "p5 p6 p4")),
            "d2": (("p7", "p4", "h1", "h2"), ("p7", "h3", "p6", "p5"), ("h3 h2 h1", "h2 h1 h3", "h2 h3 h1"), ("p6 p5 p4", "p6 p4 p5", "p4 p6 p5"))}
BEFORE, AFTER = 0, 3


def macros(name, changes, n=16, x=16, y=16, wx=4, wy=4, shared=1):
    """The result's fastest index runs along x from the first change on; before, t's or v's own fastest does."""
    kind, number = name.split("_")
    t, v, holes, particles = OPERANDS[kind]
    result = (holes[(int(number) - 1) % 3] + " " + particles[(int(number) - 1) // 3]).split()
    summed = next(index for index in t if index in v)
    free = {operand: sorted((index for index in operand if index != summed), key=result.index if changes else operand.index) for operand in (t, v)}
    def exponents(indices, of):
        return ",".join(str(of.index(index)) for index in indices)
    return {"N": n, "TX": x, "TY": y, "WX": wx, "WY": wy, "CHANGES": changes, "SHARED": shared,
            "T_IS_X": int(free[t][0] == result[0] if changes else False), "RESULT_T": exponents(free[t], result), "RESULT_V": exponents(free[v], result),
            "OF_T": exponents([*free[t], summed], t), "OF_V": exponents([*free[v], summed], v)}


def gflops(ns, n=16):
    return 2 * n ** 7 / ns


@functools.cache
def emulated(trimtab, device, name, changes, **options):
    """GFLOP/s."""
    values = macros(name, changes, **options)
    n, spans = values["N"], (values["TX"] * values["WX"], values["TY"] * values["WY"])
    program = trimtab.object(SOURCE, "contraction_" + "_".join(str(value).replace(",", "") for value in values.values()) + ".o",
                             *(f"-D{macro}={value}" for macro, value in values.items()))
    answer = trimtab.launch("emulate", program, "contraction", device, tuple(-(-n ** 3 // span) for span in spans), (values["TX"], values["TY"]),
                            {"n": n}, "--no-sensitivity")
    return gflops(answer["ns"], n)
