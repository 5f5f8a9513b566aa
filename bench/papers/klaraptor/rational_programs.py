# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import glob
import json
import os
import statistics

from item import Item, Row, geometric_mean
from trimtab import ROOT

FOLDERS = ("samples/polybench", "samples/more")
LEAST_ERROR = 1e-4  # smaller ones count as that in ratios: such a fit is exact but for rounding


def run(trimtab):
    sources = sorted(path for folder in FOLDERS for path in glob.glob(os.path.join(ROOT, folder, "*.cu")))
    objects = [trimtab.object(source, os.path.basename(source) + ".o") for source in sources]
    kernels = json.loads(trimtab.bench("bench/fit_forms", *objects))
    fits = [(kernel["kernel"], one) for kernel in kernels for one in kernel["metrics"]]
    forms = {name: sum(one["form"] == name for _, one in fits) for name in ("constant", "polynomial", "laurent", "rational")}
    quotients = [(kernel, one) for kernel, one in fits if one["form"] == "rational"]
    rows = [Row(f"{len(kernels)} kernels, {len(fits)} fits: {name}", None, forms[name]) for name in forms]
    rows.append(Row("kernels that have a fit with a denominator", None, len({kernel for kernel, _ in quotients})))
    if quotients:
        errors = [(one["held_out_error"], one["without_quotients"]["held_out_error"]) for _, one in quotients]
        rows += [
            Row("these fits: mean error on points held out, mean", None, 100 * statistics.fmean(mine for mine, _ in errors), "%"),
            Row("the same of the best fit without a denominator, mean", None, 100 * statistics.fmean(other for _, other in errors), "%"),
            Row("error without a denominator over that with one, geometric mean", None, geometric_mean(
                max(other, LEAST_ERROR) / max(mine, LEAST_ERROR) for mine, other in errors), "times")]
        for kernel, one in quotients:
            other = one["without_quotients"]
            rows.append(Row(f"{kernel.partition('(')[0]}, {one['metric']}: error with a denominator; without ({other['form']}) "
                            f"{100 * other['held_out_error']:.3g} %", None, 100 * one["held_out_error"], "%"))
    return Item("Definition 1 and section V: how many counts are quotients of polynomials?", rows, [
        "The theory is of rational functions p / q, each count fitted as one. Trimtab tries a quotient only for means, ratios, and counts that "
        "settle as sizes grow; loops' counts are polynomials. Of the forms tried, it takes the cheapest whose error on points held out of the fit "
        "is near the least; `constant` and `polynomial` are quotients with q = 1, `laurent` with a single term as q, `rational` is any other. "
        "Kernels are those of samples/polybench and samples/more that have fits. *Without a denominator* is the same profile fitted with such "
        "forms left out. The points held out also choose the form, so that both errors look a little better than on new sizes. Run on "
        "27 November 2026."])
