#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shared_runtimes.sh BUILD CUDA CC CXX: CUDA's own libcudart.so.13 in one process with Trimtab's runtime and no GPU. It is linked,
# and opened before and after kernels of trimtab++ and of nvcc, with `trimtab run` and without. Results are right, or one line
# says why they cannot be.
set -euo pipefail

build=$1
cuda=$2
cc=$3
cxx=$4
sources=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/shared_runtimes
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_CACHE_HOME=$work/cache PATH=$cuda/bin:$PATH TRIMTAB_DEVICE=h100 TRIMTAB_MODULES=off
unset TRIMTAB TRIMTAB_LOG
real=$(realpath "$cuda/lib64")/libcudart.so.13

fail() {
    echo "$*"
    cat log.txt out.txt 2>/dev/null || true
    exit 1
}

# passes COMMAND...: its results are the processor's, and nobody has anything to say.
passes() {
    timeout 120 "$@" >out.txt 2>log.txt || fail "$* ends with status $?"
    [[ $(cat out.txt) == PASS && ! -s log.txt ]] || fail "$* says something else"
}

# is_told PATTERN COMMAND...: its results are not, and a line says why.
is_told() {
    local pattern=$1
    shift
    timeout 120 "$@" >out.txt 2>log.txt && fail "$* passes"
    [[ $(grep -c "^trimtab: $pattern" log.txt) == 1 ]] || fail "$*: not a word about it, or several"
}

for name in launch unused; do
    "$build/bin/trimtab++" -O2 -shared -fPIC -DLAUNCH=$name "$sources/kernels.cu" -o lib$name.so --trimtab-profile=off 2>log.txt ||
        fail "trimtab++ fails"
done
nvcc -arch=sm_75 -cudart shared -shared -Xcompiler -fPIC -DLAUNCH=launch "$sources/kernels.cu" -o libnvcc.so >log.txt 2>&1 || fail "nvcc fails"
"$cc" "$sources/opens.c" -o opens -ldl
paths="-Wl,-rpath,$work -Wl,-rpath,$cuda/lib64"

# Linked, whichever comes first.
"$cxx" -I"$cuda/include" -c "$sources/links.cpp" -o links.o
for libraries in "-lcudart -llaunch" "-llaunch -lcudart" "-lunused -lnvcc -lcudart" "-lcudart -lnvcc -lunused"; do
    # shellcheck disable=SC2086 # several options
    "$cxx" links.o -o links -L. -L"$cuda/lib64" -Wl,--no-as-needed $libraries $paths
    readelf -d links | grep -q 'NEEDED.*libcudart.so.13' || fail "the program is not linked to CUDA's own runtime"
    passes ./links
    passes "$build/bin/trimtab" run -- ./links
done

# Opened, by each name, before and after.
export LD_LIBRARY_PATH=$cuda/lib64
for runtime in libcudart.so.13 libcudart.so "$real"; do
    passes ./opens "$runtime" ./liblaunch.so
    passes "$build/bin/trimtab" run -- ./opens "$runtime" ./liblaunch.so
    passes "$build/bin/trimtab" run -- ./opens ./liblaunch.so "$runtime"
    passes "$build/bin/trimtab" run -- ./opens "$runtime" ./libnvcc.so
done
passes ./opens ./liblaunch.so libcudart.so.13
passes ./opens ./libunused.so libcudart.so.13 ./libnvcc.so

# Nobody tells Trimtab of a library that is opened by its path.
is_told ".*libcudart.so.13: .* run the program under .trimtab run." ./opens ./liblaunch.so "$real"
# Kernels that CUDA's own runtime was told of.
is_told "./libnvcc.so: its kernels were registered .* run the program under .trimtab run." ./opens libcudart.so.13 ./libnvcc.so ./libunused.so
echo ok
