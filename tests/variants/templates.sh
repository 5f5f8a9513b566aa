#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# templates.sh BUILD: variants.cu as written, as chosen and under verify: launches become those of other bodies, in graphs and from kept
# choices too; what cannot be exchanged is said and left out, and verify finds a body that computes something else.
set -euo pipefail

build=$1
source=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$build/tests/variants/templates
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
cd "$work"

fail() {
    echo "variants: $*"
    exit 1
}
compile() { # OUTPUT OPTIONS...
    "$build/bin/trimtab++" -O3 -I"$source/../.." "$source/variants.cu" --trimtab-quiet -o "$@" 2>build.log || fail "$1 does not build: $(cat build.log)"
}

compile plain
[[ ! -s build.log ]] || fail "warns while it builds: $(cat build.log)"
TRIMTAB=off ./plain >off.txt 2>log.txt || fail "fails as written: $(cat off.txt log.txt)"
for run in first second; do
    rm -f report.jsonl
    TRIMTAB_DEVICE=rtx2070super TRIMTAB_CHOICES=choices.db TRIMTAB_REPORT=report.jsonl ./plain >on.txt 2>log.txt ||
        fail "fails as chosen: $(cat on.txt log.txt)"
    cmp off.txt on.txt || fail "prints something else as chosen"
    python3 "$source/check_report.py" report.jsonl "$run" || fail "the report of the $run run is not as it should be: $(cat report.jsonl)"
done
TRIMTAB=observe TRIMTAB_DEVICE=rtx2070super TRIMTAB_REPORT=observed.jsonl ./plain >on.txt 2>log.txt || fail "fails observed: $(cat on.txt log.txt)"
[[ $(grep -c '"by":"unchanged"' observed.jsonl) == $(wc -l <observed.jsonl) ]] || fail "observed launches change: $(cat observed.jsonl)"

"$build/bin/trimtab" inspect plain >out.txt
[[ $(grep -c 'variant    [0-9]* of reduce$' out.txt) == 4 && $(grep -c 'variant    [0-9]* of matrix::product$' out.txt) == 3 ]] ||
    fail "inspect does not show the variants: $(grep variant out.txt)"
"$build/bin/trimtab++" -O3 -I"$source/../.." "$source/variants.cu" --cuda-device-only -S -o device.ptx 2>build.log || fail "no PTX: $(cat build.log)"
if grep -q trimtab_variants device.ptx; then fail "the lists of variants are in the device code"; fi

"$build/bin/trimtab" verify --launches 1 -- ./plain >out.txt 2>log.txt || fail "verify is not clean: $(cat out.txt log.txt)"
grep -q '^void reduce<64>(.*the same bytes' out.txt || fail "reduce was not verified: $(cat out.txt)"
grep -q '^void matrix::product<int, 8>(.*the same bytes' out.txt || fail "product was not verified: $(cat out.txt)"

compile false_variant -DWITH_FALSE_VARIANT
status=0
"$build/bin/trimtab" verify --launches 1 -- ./false_variant >out.txt 2>log.txt || status=$?
((status == 1)) || fail "verify believes the false variant: $(cat out.txt log.txt)"
grep -A1 '^void doubled<64>(.*DIFFER' out.txt | grep -q '    void doubled<128>(.*blocks of 128x1x1, .*: 1 words differ' ||
    fail "verify does not name the false variant: $(cat out.txt)"

compile unfit -DWITH_UNFIT_VARIANTS
for warning in 'filled_128(int\*, long) is no variant of filled_64(int\*, int): it takes other parameters' \
    'filled_256(int\*, int) is no variant of filled_64(int\*, int): no annotation states the grid'; do
    grep -q "warning: .*$warning" build.log || fail "does not warn '$warning': $(cat build.log)"
done
./unfit >out.txt 2>log.txt || fail "variants that do not fit are exchanged: $(cat out.txt log.txt)"
echo "launches become those of other variants"
