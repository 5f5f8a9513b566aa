# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _steps import Step, rows
from item import Item

STATES, BLOCK, SETS, TIMES = 16, 64, 8192, 100
ARGUMENTS = {"sets": SETS, "steps": TIMES}
OTHER = "another system of equations: here some of the arithmetic has no literal in it, and was of floats before"


def step(name, us, label, next="", rules=(), why=None, **macros):
    flags = tuple(f"-D{key}={value}" for key, value in (macros | {"STATES": STATES, "BLOCK": BLOCK}).items())
    return Step(name, flags, (SETS // BLOCK,), (BLOCK,), us, label, next, rules, why or {})


FERMI = [
    step("base", 20920, "memory-bound, DRAM 88 %", "rates side by side", ("uncoalesced-load", "partial-sectors"), {
        "gain": "the thesis's step left 10 transactions per request of 13, ours leaves 1 of 16",
        "advice": "the finding is for 1 transaction per request; the thesis's step left 10 of 13. First comes `reuse`, which is this step and "
                  "the thesis's next in one: rates in shared memory (by emulation 2.97 times from here)"}, STEP=0),
    step("transposed", 20510, "memory-bound, DRAM 88 %", "rates to shared memory", ("reuse",), {
        "advice": "the finding is for rates that are loaded once; the thesis's step left what its other arrays do to L1"}, STEP=1),
    step("shared", 17175, "memory-bound, DRAM 83 %", "three of five arrays to registers", ("local-memory",), {
        "gain": "the thesis's step left spilled registers, ours has none",
        "advice": "the finding is for no local memory at all; the thesis's step left two arrays and spilled registers"}, STEP=2),
    step("registers", 14279, "memory-bound, DRAM 83 %", "yt to registers, dym to memory", ("local-memory",), {
        "advice": "ours has no local memory left here: nothing is found that this step would mend"}, STEP=3),
    step("yt and dym", 11420, "memory-bound, DRAM 80 %", STEP=4)]
MAXWELL = [
    step("base", 10779, "compute-bound, doubles", "literals of floats", ("accidental-double",), {"gain": OTHER, "advice": OTHER}, STEP=0, UNROLLED=1),
    step("floats", 325, "compute-bound", STEP=0, UNROLLED=1, FLOATS=1)]


def run(trimtab):
    return Item("Tables 6.6 to 6.10, 6.16 and 6.17: RK4 of an ion channel",
                rows(trimtab, "Fermi", "c2050", "rk4", FERMI, ARGUMENTS, timed=False) +
                rows(trimtab, "Maxwell", "gtx960", "rk4", MAXWELL, ARGUMENTS, timed=False), [
        f"{SETS} sets of rates, {STATES} states in a ring, {TIMES} time steps. The thesis does not print its equations or its number of "
        "steps, so only gains compare. The thesis's Fermi has ECC, hence DRAM of 115 GB/s. Run on 29 November 2026."])
