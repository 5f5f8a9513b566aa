#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run.sh BUILD SOURCE [SANITIZERS [LIBRARIES]]: builds SOURCE with BUILD/bin/trimtab++, in all its types unless
# TYPES=one is in the environment, and runs it with every kernel compiled before its first instruction, once more from
# the cache that this leaves, and, without that cache, compiled as it comes. SANITIZERS (address,undefined or thread):
# Trimtab's libraries, of BUILD or in the folder LIBRARIES, were built with them, and so is the program's host code.
# Code that the emulator compiles has none.
set -euo pipefail

suppressions=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../scripts/thread_sanitizer.supp")
# shellcheck source-path=SCRIPTDIR source=../built_program.sh
source "$(dirname "${BASH_SOURCE[0]}")/../built_program.sh" "$1" "$2"
sanitizers=${3:-}
options=(-DALL_TYPES)
[[ ${TYPES:-} != one ]] || options=()
[[ -z $sanitizers ]] || options+=(-Xarch_host "-fsanitize=$sanitizers")
[[ -z ${4:-} ]] || export LD_LIBRARY_PATH=$4
# The runtime's and the emulator's own leaks are their tests' concern; a program of CUDA's leaves modules loaded.
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=1:suppressions=$suppressions

build_as -O1 -std=c++17 -arch=sm_75 --trimtab-profile=off "${options[@]}"

for mode in compiled compiled automatic; do
    [[ $mode != automatic ]] || rm -rf "$XDG_CACHE_HOME"
    TRIMTAB=off TRIMTAB_LOG=debug TRIMTAB_EMULATOR=$mode ./"$name" >$mode.txt 2>log.txt ||
        fail "ends with status $? ($mode): $(tail -n 30 $mode.txt log.txt)"
    grep -qx PASS $mode.txt || fail "does not pass ($mode): $(tail -n 3 $mode.txt log.txt)"
    ! grep -q 'not well-formed' log.txt || fail "code is not well-formed: $(grep 'not well-formed' log.txt)"
done
