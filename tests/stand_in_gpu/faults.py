#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""faults.py BUILD SOURCE CUDA [--all]: a program on a stand-in GPU (gpu.h), linked by trimtab++ and linked without Trimtab. In
each of its steps, each function that either of them calls then fails with each error that it can return: what the program
prints (statuses, last errors, memory) must be the same. Without --all, a part of all that."""
import os
import pathlib
import shutil
import subprocess
import sys

build, source, cuda = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
take_all = "--all" in sys.argv
here = source / "tests" / "stand_in_gpu"
gpu = build / "lib" / "stand-in-gpu"
work = build / "tests" / "stand_in_gpu" / ("faults-all" if take_all else "faults")

# As CUDA's manual lists them for launches; the driver numbers them alike. After the fatal ones nothing works any more.
FATAL = [214, 220, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721]
LAUNCH = [1, 2, 3, 9, 35, 46, 98, 100, 101, 200, 201, 209, 218, 222, 223, 300, 302, 303, 400, 401, 701, 709, 720, 800, 801, 802, 803,
          804, 805, 806, 807, 808, 809, 999] + FATAL
MODULE = [1, 2, 3, 35, 200, 201, 209, 218, 222, 223, 300, 302, 303, 500, 700, 719, 801, 803, 999]
EVENT = [1, 2, 201, 400, 700, 719, 999]
OTHER = [1, 2, 46, 101, 201, 700, 719, 999]


def fail(text):
    print(f"faults: {text}")
    sys.exit(1)


def run(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=1500, **more)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))} ends with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done


def errors_of(function):
    if "LaunchKernel" in function or function == "cudaGraphLaunch":
        return LAUNCH
    if "Module" in function or "Library" in function:
        return MODULE
    return EVENT if "Event" in function else OTHER


def cases(pairs, own):
    """All of (when, step, function, error); the same ones in every run. `own`: pairs that the program calls itself: a device that
    is lost is met by all, so it is in those calls that it is lost."""
    made = []
    for number, (step, function) in enumerate(sorted(pairs)):
        is_launch = "LaunchKernel" in function
        errors = [error for error in errors_of(function) if (step, function) in own or error not in FATAL]
        # Of what is not a launch, two errors each, in turn.
        if not take_all and not is_launch:
            errors = [errors[number % len(errors)]]
        if not take_all and is_launch:  # each launch meets two of three; all errors are met by the next ones
            errors = [error for place, error in enumerate(errors) if (place + number) % 3 != 0]
        made += [("call", step, function, error) for error in errors]
        if is_launch:
            made += [("afterwards", step, function, error) for error in (FATAL if take_all else FATAL[number % 5::5])]
            safe = [error for error in LAUNCH if error not in FATAL]
            made += [("changed", step, function, error) for error in (safe if take_all else [1, 2, 9, 701, safe[number % len(safe)]])]
    return list(dict.fromkeys(made))


def parts(text):
    found = {}
    for part in text.split("== ")[1:]:
        head, _, body = part.partition("\n")
        found[head] = body
    return found


shutil.rmtree(work, ignore_errors=True)
work.mkdir(parents=True)
os.environ.update(XDG_CACHE_HOME=str(work / "cache"), STAND_IN_GPU="rtx2070super,h100", STAND_IN_GPU_NAME="NVIDIA Unheard Of 9000",
                  LD_LIBRARY_PATH=str(gpu), TRIMTAB_MODULES="cached")
for name in ("TRIMTAB_DEVICE", "TRIMTAB"):
    os.environ.pop(name, None)
programs = {**os.environ, "LD_PRELOAD": str(gpu / "libstand_in_gpu_device_files.so")}
run([build / "bin" / "trimtab++", "-O2", "--trimtab-quiet", f"-I{source}", "-std=c++20", "-c", here / "scenario.cu", "-o", work / "scenario.o"])
shared = [f"-L{gpu}", "-lstand_in_gpu", f"-Wl,-rpath,{gpu}"]
run([build / "bin" / "trimtab++", work / "scenario.o", "-o", work / "with", *shared, "-lcuda"])
# Objects of trimtab++ would find Trimtab at run time.
clang = shutil.which("clang++-22") or "clang++"
run([clang, "-x", "cuda", f"--cuda-path={cuda}", "--cuda-gpu-arch=sm_75", "--cuda-include-ptx=all", "-O2", "-Wno-unknown-cuda-version",
     f"-I{source}", "-std=c++20", "-c", here / "scenario.cu", "-o", work / "plain.o"])
run([clang, work / "plain.o", "-o", work / "without", *shared, gpu / "libcudart.so.13", gpu / "libcuda.so.1"])
(work / "add_one.ptx").write_text((here / "scenario.cu").read_text().split('R"(', 1)[1].split(')"', 1)[0])

# Its module's driver program is prepared before, so that driver-API launches get other blocks too.
run([work / "with"], env={**programs, "TRIMTAB_MODULES": "wait"})
report = work / "report.jsonl"
bare = run([work / "without"], env=programs)
plain = bare.stdout
tuned = run([work / "with"], env={**programs, "TRIMTAB_REPORT": str(report)})
if tuned.stderr != bare.stderr:  # which is the emulator's, of a launch that is wrong as written
    fail(f"Trimtab says something on a GPU that works: {tuned.stderr}")
if plain != tuned.stdout:
    fail(f"the program prints other things without a fault:\n{plain}\n{tuned.stdout}")
changed = [line for line in report.read_text().splitlines() if '"by":"driver"' in line]
if not any("add_one" in line for line in changed) or len(changed) < 4:
    fail(f"too few launches are changed to test anything: {report.read_text()}")

found = {}
for program in ("with", "without"):
    pairs = found[program] = set()
    for line in run([work / program, "calls"], env=programs).stdout.splitlines():
        if line.startswith("call "):
            _, step, function = line.split()
            pairs.add((int(step), function))
# What cannot fail, and what the test itself looks with.
quiet = ("cudaGetLastError", "cudaPeekAtLastError", "cudaGetErrorName", "cudaGetErrorString", "__cudaRegister", "__cudaUnregister",
         "__cudaPushCall", "__cudaPopCall", "__cudaInitModule", "cudaDriverGetVersion", "cudaRuntimeGetVersion", "cuDriverGetVersion")
pairs = {pair for pair in found["with"] | found["without"] if not pair[1].startswith(quiet)}
wanted = cases(pairs, found["without"])
(work / "cases.txt").write_text("".join(f"{when} {step} {function} {error}\n" for when, step, function, error in wanted))
without = parts(run([work / "without", "faults", work / "cases.txt"], env=programs).stdout)
done = run([work / "with", "faults", work / "cases.txt"], env=programs)
with_trimtab = parts(done.stdout)
if len(with_trimtab) != len(wanted) or len(without) != len(wanted):
    fail(f"{len(with_trimtab)} and {len(without)} of {len(wanted)} cases were run")
strange = [line for line in done.stderr.splitlines() if not line.startswith(("trimtab: ", "trimtab emulator: "))]
different = [case for case in with_trimtab if with_trimtab[case] != without[case]]
for case in different[:20]:
    print(f"fault {case}:")
    for one, other in zip(without[case].splitlines(), with_trimtab[case].splitlines()):
        if one != other:
            print(f"    without Trimtab: {one}\n    with:            {other}")
print(f"{len(wanted)} faults in {len({step for step, _ in pairs})} steps, {len(different)} seen otherwise by the program")
if strange:
    fail(f"stderr has lines that are no message of Trimtab's: {strange[:5]}")
if different or len(wanted) < 500:
    sys.exit(1)
