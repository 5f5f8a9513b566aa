#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# faults.sh BUILD SAMPLE COMPILER: a program whose Trimtab parts are broken, one way at a time, still ends well with the same bytes,
# and exactly one warning says what is wrong.
set -euo pipefail

build=$1
sample=$2
compiler=$3
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$build/tests/runtime/faults
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
cd "$work"

fail() {
    echo "faults: $*"
    exit 1
}

"$build/bin/trimtab++" -O3 "$sample" -o program 2>build.log || fail "does not build: $(cat build.log)"
"$compiler" -shared -fPIC -O1 -I"$here/../../include" "$here/spoil_bundle.c" -o libspoil.so -ldl
arguments=(100 --dump)
TRIMTAB=off ./program "${arguments[@]}" off.bin >off.txt || fail "fails as written"

# expect NAME "part of the warning" VARIABLE=VALUE...
checked=0
expect() {
    local name=$1 part=$2 status=0
    shift 2
    rm -f on.bin
    env "$@" ./program "${arguments[@]}" on.bin >on.txt 2>log.txt || status=$?
    ((status == 0)) || fail "$name: ends with $status: $(cat log.txt)"
    grep -qx PASS on.txt || fail "$name: does not pass"
    cmp off.bin on.bin || fail "$name: other bytes"
    if [[ -z $part ]]; then
        [[ ! -s log.txt ]] || fail "$name: says something: $(cat log.txt)"
    else
        [[ $(wc -l <log.txt) == 1 ]] || fail "$name: not one warning: $(cat log.txt)"
        grep -q -- "$part" log.txt || fail "$name: the warning is another: $(cat log.txt)"
    fi
    checked=$((checked + 1))
}
spoiled() { expect "$1" "$2" SPOIL="$1" LD_PRELOAD="$work/libspoil.so"; }

expect nothing ''
expect spoiler-at-rest '' LD_PRELOAD="$work/libspoil.so"
spoiled abi 'driver programs of ABI 99 are ignored'
spoiled driver-abi 'its driver program has ABI 99'
spoiled driver-size 'its driver program is incomplete'
spoiled driver-missing '1 of 1 are for kernels that its record does not describe'
spoiled driver-stray '1 of 1 are for kernels that its record does not describe'
spoiled record-cut 'not valid JSON'
spoiled record-overwritten 'not valid JSON'
spoiled record-version 'is of another version of Trimtab'
spoiled guard-unreadable 'the kernel is launched as written'
spoiled block-zero 'offers a block that is not legal'
spoiled block-large 'offers a block that is not legal'
spoiled time-nan 'predicts an invalid time'
spoiled time-negative 'predicts an invalid time'
spoiled written-infinite 'predicts an invalid time'
spoiled many 'offers more blocks than it was asked for'
expect report-full 'TRIMTAB_REPORT=/dev/full: No space left on device' TRIMTAB_REPORT=/dev/full
expect report-folder 'no report is written' TRIMTAB_REPORT=/nonexistent/report.jsonl
expect choices-folder 'choices are not kept' TRIMTAB_CHOICES=/dev/null/choices.sqlite
expect choices-full 'choices are not kept' TRIMTAB_CHOICES=/dev/full
head -c 10000 /dev/urandom >garbage.sqlite
expect choices-garbage 'choices are not kept' TRIMTAB_CHOICES="$work/garbage.sqlite"
if ((EUID != 0)); then # whom permissions do not stop
    mkdir read_only
    chmod 555 read_only
    expect choices-read-only 'choices are not kept' TRIMTAB_CHOICES="$work/read_only/choices.sqlite"
fi
expect choices '' TRIMTAB_CHOICES="$work/choices.sqlite"
TRIMTAB_CHOICES=$work/choices.sqlite TRIMTAB_REPORT=report.jsonl ./program "${arguments[@]}" on.bin >on.txt 2>log.txt
grep -q '"reason":"chosen by an earlier process"' report.jsonl || fail "a kept choice is not taken: $(cat report.jsonl)"
expect misspelt "unknown variable TRIMTAB_REPROT; did you mean \"TRIMTAB_REPORT\"?" TRIMTAB_REPROT=report.jsonl
expect bad-mode 'TRIMTAB=maybe is not understood' TRIMTAB=maybe
echo "$checked faults, and the same bytes"
