# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os

from item import Item, Row

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hyterm.cu")
N, BLOCK = 136, (32, 4)
# Section 6.2; stencils are numbered from 1, three adjacent ones add to one quantity.
GROUPS = ((1, 2, 13, 14), (3, 10, 11), (4, 5, 7, 8), (6,), (9,), (12, 15))
STEPS = {"six kernels": (GROUPS, 141), "three kernels": ((GROUPS[0] + GROUPS[1], GROUPS[2] + GROUPS[3] + GROUPS[4], GROUPS[5]), 161),
         "one kernel": ((tuple(range(1, 16)),), 260)}


def operations(stencil):
    """Floating-point operations that one point needs for a stencil: four differences, weighed and added, and the fluxes at
    eight neighbours (a product; momentum along its own direction adds the pressure, energy a second product)."""
    quantity, direction = divmod(stencil - 1, 3)
    per_flux = 0 if quantity == 0 else 3 if quantity == 4 else 2 if quantity == 1 + direction else 1
    return 4 * 3 + 1 + 8 * per_flux


def emulated(trimtab, groups):
    """Time of the kernels one after the other, and each one's occupancy and limit."""
    inner = N - 8
    grid = (-(-inner // BLOCK[0]), -(-inner // BLOCK[1]), inner)
    total, seen, written = 0, [], 0
    for group in groups:
        mask = sum(1 << (stencil - 1) for stencil in group)
        program = trimtab.object(SOURCE, f"hyterm{mask}_{written}.o", f"-DSTENCILS={mask}", f"-DADDS={written}")
        answer = trimtab.launch("emulate", program, "hyterm", "k20c", grid, BLOCK, {"nx": N, "ny": N, "nz": N}, "--no-sensitivity")
        total += answer["ns"]
        busiest = max(answer["resources"], key=lambda name: answer["resources"][name]["utilisation"])
        seen.append(f"{busiest} {100 * answer['resources'][busiest]['utilisation']:.0f} % at occupancy {answer['occupancy']['fraction']:.2g}")
        for stencil in group:
            written |= 1 << (stencil - 1) // 3
    return total, seen


def run(trimtab):
    useful = sum(operations(stencil) for stencil in range(1, 16)) * (N - 8) ** 3
    rows, speeds = [], {}
    for name, (groups, paper) in STEPS.items():
        total, seen = emulated(trimtab, groups)
        speeds[name] = useful / total
        rows.append(Row(f"{name}; busiest: {', '.join(dict.fromkeys(seen))}", paper, speeds[name], "GFLOP/s",
                        why="another code: no tile in shared memory, each point reads its neighbours through the caches"))
    rows.append(Row("one kernel over six", 260 / 141, speeds["one kernel"] / speeds["six kernels"], "times"))
    return Item("Section 6.2: fusing the Hyterm stencil on a K20c", rows, [
        f"{N - 8}^3 points, doubles, blocks of {BLOCK[0]} x {BLOCK[1]}; fifteen stencils of eighth order in the paper's groups. The paper's "
        "code, grid and tiles come from a stencil compiler, and its final step also changes tiles and blocks. GFLOP/s count the "
        f"operations of the fifteen stencils, {sum(operations(one) for one in range(1, 16))} per point."])
