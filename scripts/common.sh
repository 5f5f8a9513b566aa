# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced by the other scripts: where things are, how to say things, which CUDA toolkit to use.
# shellcheck shell=bash
# shellcheck disable=SC2034  # the sourcing scripts read these

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
self=$(basename "$0")
cuda_prefix=$root/.toolchain/cuda
jobs=${TRIMTAB_JOBS:-$(nproc)}

# Exit codes as the tools have them: 0 ok, 1 the answer is no, 2 usage, 3 bad input (here: something is missing).
say() { printf '%s: %s\n' "$self" "$*"; }
die() {
    local code=$1
    shift
    printf '%s: %s\n' "$self" "$*" >&2
    exit "$code"
}
usage_error() { die 2 "$1 (see $self --help)"; }

# cuda_lacks DIR: prints the first thing that keeps DIR from being a CUDA toolkit we can use; fails where there is none.
cuda_lacks() {
    local file version
    for file in bin/ptxas bin/fatbinary nvvm/libdevice/libdevice.10.bc include/cuda.h include/cuda_runtime.h \
        include/curand_mtgp32_kernel.h lib64/libcudart.so; do
        [[ -e $1/$file ]] || { echo "no $file" && return 0; }
    done
    version=$(sed -n 's/^#define CUDA_VERSION \([0-9]*\)$/\1/p' "$1/include/cuda.h")
    ((${version:-0} >= 13000)) || { echo "version ${version:-unknown}, older than 13.0" && return 0; }
    return 1
}

# Where a toolkit may be, in order: our own, CUDA_HOME's, the usual place, and the one nvcc is part of.
cuda_candidates() {
    local nvcc
    nvcc=$(command -v nvcc || true)
    [[ -z $nvcc ]] || nvcc=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
    local candidate
    for candidate in "$cuda_prefix" "${CUDA_HOME:-}" /usr/local/cuda "$nvcc"; do
        [[ -z $candidate || ! -d $candidate ]] || printf '%s\n' "$candidate"
    done
}

# find_cuda: prints the toolkit to use; fails where there is none.
find_cuda() {
    local candidate
    while read -r candidate; do
        if ! cuda_lacks "$candidate" >/dev/null; then
            echo "$candidate"
            return 0
        fi
    done < <(cuda_candidates)
    return 1
}

# folder_of PRESET: where it is built.
folder_of() { if [[ $1 == default ]]; then echo build; else echo "build-$1"; fi; }

# configure PRESET [cmake arguments]: quiet unless it fails. A folder that is there keeps its launcher of compilers: with
# another one, all of it would be built again.
configure() {
    local preset=$1 cuda log
    shift
    cuda=$(find_cuda) || die 3 "no CUDA toolkit: run scripts/setup.sh"
    local launcher=()
    if [[ ! -f $root/$(folder_of "$preset")/CMakeCache.txt ]] && command -v ccache >/dev/null; then
        # It knows objects again that were made with a precompiled header only where it may overlook when that was made.
        local cached="env;CCACHE_SLOPPINESS=pch_defines,time_macros;ccache"
        launcher=("-DCMAKE_C_COMPILER_LAUNCHER=$cached" "-DCMAKE_CXX_COMPILER_LAUNCHER=$cached")
    fi
    log=$(mktemp)
    if ! (cd "$root" && cmake --preset "$preset" "-DTRIMTAB_CUDA_PATH=$cuda" "${launcher[@]}" "$@") >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        die 1 "configuring preset $preset failed"
    fi
    rm -f "$log"
}

# build PRESET [targets]
build() {
    local preset=$1
    shift
    local targets=()
    (($# == 0)) || targets=(--target "$@")
    (cd "$root" && NINJA_STATUS='[%f/%t %es] ' nice cmake --build --preset "$preset" -j "$jobs" "${targets[@]}") ||
        die 1 "building preset $preset failed"
}
