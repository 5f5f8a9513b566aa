#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Abstract emulation and the closed form against measured block sweeps: which blocks they choose, in which order they
put them, and how far their times are off.

usage: polybench.py BUILD --table FILE.csv --gpu SLUG [--app A]... [--n N]... [--blocks K] [--above US]
           [--emulation-only] [--from-ptx] [--json]

Samples (bench/selection_quality/polybench.json) are built once with BUILD/bin/trimtab++; then every legal block of a
case is asked of `trimtab emulate` (with --bypass-l1: the tables' programs were built so) and `trimtab predict`.
Kernels of many launches are asked at the first, middle and last of them. --blocks K takes at most K blocks of a case,
spread over its times, --above US those of that many microseconds at least. The errors are of all times together: their
arithmetic and geometric means and their median. Exit codes: 0 done, 2 usage, 3 bad input.
"""

import argparse
import csv
import json
import math
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNELS = os.path.join(ROOT, "bench", "selection_quality", "polybench.json")


def launches_of(kernel, n):
    if "launches" not in kernel:
        return [({}, 1)]
    first, last = (eval(kernel["launches"][k], {}, {"n": n}) for k in ("from", "to"))
    asked = sorted({first, (first + last) // 2, last})
    weight = (last - first + 1) / len(asked)
    return [({kernel["launches"]["argument"]: value}, weight) for value in asked]


def ask(trimtab, predictor, binary, kernel, gpu, n, bx, by, emulate_flags):
    """Predicted ms of all launches of the case, or None."""
    grid = [(n + bx - 1) // bx, (n + by - 1) // by if len(kernel["extent"]) > 1 else 1]
    total = 0
    for extra, weight in launches_of(kernel, n):
        arguments = {name: eval(value, {}, {"n": n}) for name, value in kernel["arguments"].items()} | extra
        command = [trimtab, predictor, binary, "--kernel", kernel["symbol"], "--device", gpu, "--json",
                   "--grid", ",".join(map(str, grid)), "--block", f"{bx},{by}"]
        command += [f"--arg={name}={value}" for name, value in arguments.items()]
        if predictor == "emulate":
            command += ["--bypass-l1", "--no-sensitivity", *emulate_flags]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"left out: {kernel['kernel']} n={n} {bx}x{by}: {done.stderr.strip()}", file=sys.stderr)
            return None
        total += weight * json.loads(done.stdout)["ns"] / 1e6
    return total


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    out, i = [0.0] * len(values), 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            out[order[k]] = (i + j) / 2
        i = j + 1
    return out


def spearman(a, b):
    a, b = ranks(a), ranks(b)
    mean = (len(a) - 1) / 2
    if len(a) < 2:
        return float("nan")
    top = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    bottom = math.sqrt(sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b))
    return top / bottom if bottom else float("nan")


def score(measured, predicted):
    chosen = min(range(len(predicted)), key=predicted.__getitem__)
    return {"efficiency": min(measured) / measured[chosen], "spearman": spearman(measured, predicted),
            "mape": sum(abs(p / m - 1) for p, m in zip(predicted, measured)) / len(measured)}


def errors(cases, label, column):
    """Of all the times: arithmetic mean, geometric mean and median of |predicted / measured - 1|."""
    least = 1e-4  # an error of nought by chance makes a geometric mean nought
    all_errors = sorted(max(least, abs(row[column] / row[2] - 1)) for case in cases if label in case
                        for row in case["rows"])
    return {"times": len(all_errors), "mean": sum(all_errors) / len(all_errors),
            "geometric": math.exp(sum(map(math.log, all_errors)) / len(all_errors)),
            "median": all_errors[len(all_errors) // 2]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--table", required=True)
    parser.add_argument("--gpu", required=True)
    parser.add_argument("--app", action="append")
    parser.add_argument("--n", action="append", type=int)
    parser.add_argument("--blocks", type=int, default=0)
    parser.add_argument("--above", type=float, default=0, help="microseconds")
    parser.add_argument("--emulation-only", action="store_true", help="do not ask the closed form")
    parser.add_argument("--from-ptx", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    trimtab = os.path.join(options.build, "bin", "trimtab")
    with open(KERNELS, encoding="utf-8") as file:
        kernels = {(k["app"], k["kernel"]): k for k in json.load(file)}
    labels = ("emulation",) if options.emulation_only else ("closed", "emulation", "both")
    cases = {}
    try:
        with open(options.table, encoding="utf-8") as file:
            for row in csv.DictReader(file):
                key = (row["app"], row["kernel"], int(row["n"]))
                kernel = kernels.get(key[:2])
                if row["gpu"] != options.gpu or kernel is None or (options.app and row["app"] not in options.app):
                    continue
                if (options.n and key[2] not in options.n) or (len(kernel["extent"]) == 1 and row["by"] != "1"):
                    continue
                if float(row["time_ms"]) * 1000 < options.above:
                    continue
                cases.setdefault(key, []).append((float(row["time_ms"]), int(row["bx"]), int(row["by"])))
    except (OSError, KeyError, ValueError) as error:
        print(f"polybench.py: {options.table}: {error}", file=sys.stderr)
        return 3
    results = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.threads) as pool:
        built = {}
        for (app, name, n), rows in sorted(cases.items()):
            kernel = kernels[app, name]
            source = os.path.normpath(os.path.join(os.path.dirname(KERNELS), kernel["source"]))
            if source not in built:
                built[source] = os.path.join(folder, f"{len(built)}.o")
                subprocess.run([os.path.join(options.build, "bin", "trimtab++"), "-O3", "--trimtab-quiet", "-c", source,
                                "-o", built[source]], check=True)
            rows.sort()
            if options.blocks and len(rows) > options.blocks:
                rows = [rows[i * (len(rows) - 1) // (options.blocks - 1)] for i in range(options.blocks)]
            case = {"app": app, "kernel": name, "n": n, "blocks": len(rows), "rows": []}
            times = {}
            for predictor in ("emulate",) if options.emulation_only else ("predict", "emulate"):
                times[predictor] = list(pool.map(
                    lambda row: ask(trimtab, predictor, built[source], kernel, options.gpu, n, row[1], row[2],
                                    ["--from-ptx"] * options.from_ptx), rows))
            kept = [i for i in range(len(rows)) if all(t[i] is not None for t in times.values())]
            if not kept or (len(kept) < 2 and not options.above):
                continue
            measured = [rows[i][0] for i in kept]
            emulated = [times["emulate"][i] for i in kept]
            closed = emulated if options.emulation_only else [times["predict"][i] for i in kept]
            both = [math.sqrt(a * b) for a, b in zip(closed, emulated)]
            predictions = {"closed": closed, "emulation": emulated, "both": both}
            for label in labels:
                case[label] = score(measured, predictions[label])
            case["rows"] = [[rows[i][1], rows[i][2], rows[i][0], closed[k], emulated[k], both[k]]
                            for k, i in enumerate(kept)]
            results.append(case)
            if not options.json:
                print(f"{name:22} {n:6}  " + "  ".join(
                    "{} {efficiency:.3f} {spearman:6.3f} {mape:5.2f}".format(label, **case[label])
                    for label in labels), flush=True)
    if not results:
        print(f"polybench.py: {options.table}: no case of it is asked for", file=sys.stderr)
        return 3
    summary = {}
    for label in labels:
        efficiencies = sorted(case[label]["efficiency"] for case in results)
        summary[label] = {
            "n": len(results),
            "geomean": math.exp(sum(map(math.log, efficiencies)) / len(efficiencies)),
            "p10": efficiencies[len(efficiencies) // 10],
            "spearman": sum(case[label]["spearman"] for case in results) / len(results),
            "mape": sum(case[label]["mape"] for case in results) / len(results),
            "errors": errors(results, label, {"closed": 3, "emulation": 4, "both": 5}[label])}
    if options.json:
        print(json.dumps({"gpu": options.gpu, "summary": summary, "cases": results}, indent=1))
    else:
        for label, one in summary.items():
            print("{:10} n {n}  geomean {geomean:.3f}  p10 {p10:.3f}  Spearman {spearman:.3f}  MAPE {mape:.2f}".format(
                label, **one))
            print("{:10} errors of {times} times: mean {mean:.1%}, geometric mean {geometric:.1%}, median {median:.1%}"
                  .format("", **one["errors"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
