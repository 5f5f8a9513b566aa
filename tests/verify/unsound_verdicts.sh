#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# unsound_verdicts.sh BUILD: verify is clean on kernels as the proof judges them; once records claim that all of them may have any
# block, it finds each wrong claim, spares the right one, and writes a bug report for each.
set -euo pipefail

build=$1
source=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$build/tests/verify/unsound
rm -rf "$work"
mkdir -p "$work/reports"
export XDG_CACHE_HOME=$work/cache
cd "$work"

fail() {
    echo "unsound: $*"
    exit 1
}

"$build/bin/trimtab++" -O3 --trimtab-profile=off "$source/unsound.cu" -o unsound 2>build.log || fail "$(cat build.log)"
# As the proof has it, `neighbour` alone is taken for free of races, which CUDA requires it to be: its own fault.
status=0
"$build/bin/trimtab" verify -o reports -- ./unsound >out.txt 2>log.txt || status=$?
((status == 1)) || fail "ends with $status: $(cat out.txt log.txt)"
grep -q '^place_in_block(.*left alone: ' out.txt || fail "place_in_block is not left alone: $(cat out.txt)"
grep -q '^sound(.*the same bytes' out.txt || fail "the sound kernel is accused: $(cat out.txt)"
for kernel in clamped number_of_threads step_in_result sound_loop; do
    grep -q "^$kernel(.*the same bytes" out.txt || fail "$kernel differs with dividing blocks: $(cat out.txt)"
done
grep -q '^neighbour(.*DIFFER' out.txt || fail "the race is not seen: $(cat out.txt)"
grep -q 'a race of its own' out.txt || fail "the race is laid on the block: $(cat out.txt)"

"$source/make_unsound.py" unsound sound place_in_block clamped number_of_threads neighbour step_in_result=sound_loop
rm -f reports/*
status=0
"$build/bin/trimtab" verify -o reports -- ./unsound >out.txt 2>log.txt || status=$?
((status == 1)) || fail "with unsound verdicts it ends with $status: $(cat out.txt log.txt)"
grep -qx PASS out.txt || fail "the program does not see its own results: $(cat out.txt)"
for kernel in place_in_block clamped number_of_threads neighbour step_in_result; do
    grep -q "^$kernel(.*DIFFER" out.txt || fail "$kernel is not caught: $(cat out.txt)"
    report=reports/trimtab-bug-$kernel-1.txt
    [[ -f $report ]] || fail "no bug report on $kernel"
    for part in '"verdict": "covering"' '.visible .entry' 'byte [0-9]* of an allocation of 4096 bytes' 'order_seed'; do
        grep -q -- "$part" "$report" || fail "$report lacks $part"
    done
done
for kernel in sound sound_loop; do
    grep -q "^$kernel(.*the same bytes" out.txt || fail "the kernel $kernel is accused: $(cat out.txt)"
done
# The launch has its own number of threads where the block divides it: what is found is another number.
grep -A1 '^step_in_result(.*DIFFER' out.txt | tail -1 | awk '{ split($1, grid, "x"); split($4, block, "x"); exit grid[1] * block[1] == 64 }' ||
    fail "no other number of threads was run: $(cat out.txt)"
[[ $(find reports -type f | wc -l) == 5 ]] || fail "there are other reports than five: $(ls reports)"
echo "five unsound verdicts caught"
