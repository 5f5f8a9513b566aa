# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from _fmm import every, macros_of, name_of, timed
from item import Item, Row

SINGLE = {"pref": "improves", "shmem": "", "ujam": "", "vecpack": "", "tight": "", "rsqrt": "", "shmem+trans": ""}


def agreement(pairs):
    """Of all pairs of combinations, the share that both orders agree on."""
    same = [(a[0] - b[0]) * (a[1] - b[1]) > 0 for i, a in enumerate(pairs) for b in pairs[i + 1:] if a[0] != b[0]]
    return sum(same) / len(same)


def run(trimtab):
    base, rows = timed(trimtab, macros_of()), []
    for name, says in SINGLE.items():
        one = timed(trimtab, macros_of(name))
        rows += [Row(f"{name}: speedup by emulation", 1.0 if says else None, base.emulated / one.emulated, "times", says=says, better="higher"),
                 Row(f"{name}: speedup by the equations (T_exec)", 1.0 if says else None,
                     base.equations["T_exec"] / one.equations["T_exec"], "times", says=says, better="higher")]
    times = {name_of(macros): timed(trimtab, macros) for macros in every()}
    best = min(times, key=lambda name: times[name].emulated)
    chosen = min(times, key=lambda name: times[name].equations["T_exec"])
    pairs = [(one.emulated, one.equations["T_exec"]) for one in times.values()]
    rows += [Row(f"speedup of the best by emulation: {best}", None, base.emulated / times[best].emulated, "times"),
             Row(f"speedup of the best by the equations: {chosen}", None, base.equations["T_exec"] / times[chosen].equations["T_exec"], "times"),
             Row("emulated speed of the equations' best, of the best", 1.0, times[best].emulated / times[chosen].emulated, "times",
                 says="finds the best", better="higher",
                 why="the equations count PTX's division and root as one instruction each, as rsqrt's, so that rsqrt gains nothing in them; "
                     "the paper counts machine instructions"),
             Row("pairs of combinations that the equations order as emulation does", None, 100 * agreement(pairs), "%",
                 says="follows the trend")]
    return Item(f"Figures 9 and 10: an FMM's near field on a C2050, {len(times)} combinations of optimisations", rows, [
        "The plots have no numbers, and the paper does not list its 44 combinations. Ours are all of vecpack or tight, rsqrt, shmem with "
        "or without trans, ujam by two, and pref. The paper's times are measured."])
