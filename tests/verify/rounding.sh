#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# rounding.sh BUILD: what floating-point sums in another order explain is forgiven, and nothing beside it: integers, floats that no
# atomic added to, terms too many, races.
set -euo pipefail

build=$1
source=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$build/tests/verify/rounding
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
cd "$work"

fail() {
    echo "rounding: $*"
    exit 1
}
# verified: what verify says of the program, in out.txt.
verified() {
    local status=0
    "$build/bin/trimtab" verify --blocks all -- ./rounding >out.txt 2>log.txt || status=$?
    ((status == 1)) || fail "ends with $status: $(cat out.txt log.txt)"
    grep -qx PASS out.txt || fail "does not pass under verify: $(cat out.txt)"
    for kernel in sound_sums sound_means; do
        grep -q "^$kernel(.*the same, except for the rounding of floating-point " out.txt || fail "$kernel is accused, or does not round: $(cat out.txt)"
    done
    grep -q '^neighbour_beside_sums(.*DIFFER' out.txt || fail "the race is not seen: $(cat out.txt)"
    grep -A1 '^neighbour_beside_sums(' out.txt | grep -q 'a race of its own' || fail "the race is laid on the block: $(cat out.txt)"
}

"$build/bin/trimtab++" -O3 --trimtab-profile=off "$source/rounding.cu" -o rounding 2>build.log || fail "$(cat build.log)"
verified
for kernel in integers_beside_sums floats_beside_sums block_in_counts; do
    grep -q "^$kernel(.*left alone: " out.txt || fail "$kernel is not left alone: $(cat out.txt)"
done

"$source/make_unsound.py" rounding sound_sums integers_beside_sums floats_beside_sums tail_in_sums block_in_counts=sound_means
verified
for kernel in integers_beside_sums floats_beside_sums tail_in_sums block_in_counts; do
    grep -q "^$kernel(.*DIFFER" out.txt || fail "$kernel is not caught: $(cat out.txt)"
    grep -A1 "^$kernel(" out.txt | grep -q 'a race of its own' && fail "$kernel has no race of its own: $(cat out.txt)"
done
echo "rounding is forgiven, four unsound verdicts and a race are not"
