#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# macros.sh BUILD: macros.cu with bodies by the values of macros, as written, as chosen and under verify.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=macros_common.sh
source "$(dirname "${BASH_SOURCE[0]}")/macros_common.sh" "$1"

# Of an object, of the command line's definition.
compile plain.o -DBLOCK=64 -DSAY_VARIANT "${variants[@]}" -c
[[ ! -s build.log ]] || fail "warns while it builds: $(cat build.log)"
"$build/bin/trimtab++" plain.o -o plain
run_both_ways plain
python3 "$source/check_macros.py" report.jsonl || fail "the report is not as it should be: $(cat report.jsonl)"
"$build/bin/trimtab" inspect plain >out.txt
for kernel in 'reduce(int const\*, int\*, int)' 'void reversed<int>(int const\*, int\*, int)'; do
    [[ $(grep -c "variant    \(64\|128\|256\|512\) of $kernel$" out.txt) == 4 ]] || fail "inspect does not show the bodies of $kernel: $(grep variant out.txt)"
done
[[ $(grep -c 'variant    \(8\|16\|32\) of transposed$' out.txt) == 3 ]] || fail "inspect does not show the bodies of transposed: $(grep variant out.txt)"
[[ $(grep -A12 '^indifferent' out.txt | grep -c 'variant  \|values: int \*') == 1 ]] || fail "a kernel that comes out the same is one of several: $(grep -A12 '^indifferent' out.txt)"
grep -q '^reduce(int const\*, int\*, int) \[BLOCK=128\]$' out.txt || fail "a body has no readable name: $(grep -v '^ ' out.txt)"
[[ $(grep -c '^scaled' out.txt) == 1 && $(grep -c '^indifferent' out.txt) == 1 ]] || fail "a kernel that no macro changes has bodies: $(grep -v '^ ' out.txt)"
"$build/bin/trimtab" verify --launches 1 -- ./plain >out.txt 2>log.txt || fail "verify is not clean: $(cat out.txt log.txt)"
grep -q '^reduce(.*the same bytes' out.txt || fail "reduce was not verified: $(cat out.txt)"

# Of the source's own definition, which is among the values; with the object linked by clang, without a runtime of ours.
compile written.o --trimtab-variants=BLOCK=64,256 --trimtab-variants=TILE=8 -c
grep -q 'TILE: no kernel.s code depends on it' build.log && fail "the value as written is looked for: $(cat build.log)"
"$build/bin/trimtab" inspect written.o >out.txt
[[ $(grep -c 'variant    \(64\|256\) of reduce' out.txt) == 2 && $(grep -c 'variant    .* of transposed' out.txt) == 0 ]] ||
    fail "the value as written is there twice: $(grep variant out.txt)"

compile false_body -DBLOCK=64 -DWITH_FALSE_BODY "${variants[@]}"
status=0
"$build/bin/trimtab" verify --launches 1 -- ./false_body >out.txt 2>log.txt || status=$?
((status == 1)) || fail "verify believes the false body: $(cat out.txt log.txt)"
grep -A1 '^doubled(.*DIFFER' out.txt | grep -q '    doubled(.*) \[BLOCK=128\]:.*blocks of 128x1x1, .*: 1 words differ' || fail "verify does not name the false body: $(cat out.txt)"
echo "launches become those of other values of macros"
