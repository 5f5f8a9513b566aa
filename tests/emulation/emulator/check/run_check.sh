#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run_check.sh BUILD FOLDER: `trimtab run --check` on a program with a defect of each kind, and on one without.
set -euo pipefail

build=$1
folder=$2
work=$build/tests/emulation/emulator/check
rm -rf "$work/run"
mkdir -p "$work/run"
cd "$work/run"
export XDG_CACHE_HOME=$PWD/cache
source=$folder/programs/defects.cu

fail() {
    echo "$*"
    exit 1
}

"$build/bin/trimtab++" -O1 -g -gline-tables-only -Wno-unused "$source" -o defects 2>build.log ||
    fail "does not build: $(cat build.log)"

# check WHICH CHECKS STATUS: what is found, to found.txt
check() {
    local status=0
    "$build/bin/trimtab" run --check="$2" -- ./defects "$1" >out.txt 2>found.txt || status=$?
    [[ $status == "$3" ]] || fail "$1 under $2 ends with $status, not $3: $(cat found.txt)"
}

for which in memory race init sync barrier; do
    line=$(grep -n "FOUND $which" "$source" | cut -d: -f1)
    kind=${which/barrier/sync}
    check "$which" "$kind" 1
    # The shuffle of sync is inlined from a header of clang's.
    grep -q "defects.cu:$line: $kind: " found.txt || fail "$which: not at line $line: $(cat found.txt)"
    check clean "$kind" 0
done
check memory memory 1
grep -q 'past the end of an allocation of 256 bytes' found.txt || fail "no distance: $(cat found.txt)"
grep -q 'the memory was allocated by' found.txt || fail "no stack: $(cat found.txt)"
if command -v llvm-symbolizer-22 llvm-symbolizer addr2line >/dev/null; then
    grep -q 'allocate_numbers.*defects.cu:' found.txt || fail "the stack has no names: $(cat found.txt)"
fi
check freed memory 1
grep -q 'and freed by' found.txt || fail "no stack of the free: $(cat found.txt)"
check sync memory,race,init 0
check clean all 0

"$build/bin/trimtab" run --check=init --json -- ./defects init >found.json && fail "JSON, and no finding"
grep -q '"kind": "device memory never written"' found.json || fail "JSON: $(cat found.json)"
status=0
"$build/bin/trimtab" run --check=memory,speed -- ./defects 2>found.txt || status=$?
[[ $status == 2 ]] || fail "a check that does not exist ends with $status"
status=0
"$build/bin/trimtab" run --check=memory -- /bin/true 2>found.txt || status=$?
[[ $status == 3 ]] || fail "a program without CUDA ends with $status"
