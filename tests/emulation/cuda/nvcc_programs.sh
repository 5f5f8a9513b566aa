#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# nvcc_programs.sh BUILD CUDA SOURCES: programs that other compilers made, run by `trimtab run` with no GPU: CUDA's runtime linked
# statically (nvcc's default), shared, and stripped of its symbols; the driver API with NVRTC.
set -euo pipefail

build=$1
cuda=$2
sources=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_CACHE_HOME=$work/cache TRIMTAB_MODULES=off # nothing goes on after the end

fail() {
    echo "$*"
    cat log.txt 2>/dev/null || true
    exit 1
}

# Says PASS, on the device that was asked for.
runs() {
    timeout 250 "$build/bin/trimtab" run --device h100 -- "$@" >out.txt 2>log.txt || fail "$* ends with status $?"
    grep -qx PASS out.txt || fail "$* does not pass"
    grep -q H100 out.txt || fail "$* runs on another device: $(cat out.txt)"
}

for kind in static shared; do
    PATH=$cuda/bin:$PATH nvcc -arch=sm_75 -cudart $kind "$sources/nvcc_program.cu" -o $kind >log.txt 2>&1 || fail "nvcc fails"
    LD_LIBRARY_PATH=$cuda/lib64 runs ./$kind
done

# Kernels that launch kernels: nvcc links libcudadevrt's own code, which the emulator does not run.
PATH=$cuda/bin:$PATH nvcc -arch=sm_75 -rdc=true "$sources/../../programs/device_launches.cu" -o launches -lcudadevrt >log.txt 2>&1 ||
    fail "nvcc fails on device launches"
timeout 250 "$build/bin/trimtab" run -- ./launches >out.txt 2>log.txt || fail "device launches end with status $?"
grep -qx PASS out.txt || fail "device launches do not pass"

# Without symbols the copy is found by its code.
strip -o stripped static
runs ./stripped

c++ -O1 -I"$cuda/include" "$sources/driver_program.cpp" -o driver -L"$cuda/lib64" -L"$cuda/lib64/stubs" -lcuda -lnvrtc \
    -Wl,-rpath,"$cuda/lib64" >log.txt 2>&1 || fail "the driver's program does not build"
runs ./driver
# And without trimtab, where the loader finds the stand-in.
TRIMTAB_DEVICE=h100 LD_LIBRARY_PATH=$build/lib/trimtab-driver ./driver >out.txt 2>log.txt || fail "the driver's program fails"
