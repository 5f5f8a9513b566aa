#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# macros.sh BUILD: macros.cu with bodies by the values of macros, as written, as chosen and under verify; what cannot be
# had is said in a line each and left out, and never fails a build.
set -euo pipefail

build=$1
source=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$build/tests/variants/macros
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
cd "$work"

fail() {
    echo "macros: $*"
    exit 1
}
compile() { # OUTPUT OPTIONS...
    "$build/bin/trimtab++" -O3 -I"$source/../.." "$source/macros.cu" --trimtab-quiet -o "$@" 2>build.log || fail "$1 does not build: $(cat build.log)"
}
run_both_ways() { # PROGRAM
    TRIMTAB=off "./$1" >off.txt 2>log.txt || fail "$1 fails as written: $(cat off.txt log.txt)"
    rm -f report.jsonl
    TRIMTAB_DEVICE=rtx2070super TRIMTAB_REPORT=report.jsonl "./$1" >on.txt 2>log.txt || fail "$1 fails as chosen: $(cat on.txt log.txt)"
    cmp off.txt on.txt || fail "$1 prints something else as chosen"
}
variants=(--trimtab-variants=BLOCK=64,128,256,512 --trimtab-variants=TILE=16,32)

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

# What cannot be had.
compile odd -DWITH_ODD_CODE --trimtab-variants=BLOCK=32,64,128,512 --trimtab-variants=TILE=16 --trimtab-profile=off
for warning in 'BLOCK=32 is left out, it does not compile: .*macros.cu:[0-9]*:2: error: "no blocks of 32"' \
    'BLOCK=512 is left out, it does not compile: .*shared' \
    'BLOCK=128: other_table(int\*) is left out: its variable table is another' \
    'of_both(int\*) has no bodies by TILE: it has variants by BLOCK'; do
    [[ $(grep -c "trimtab++: warning: .*$warning" build.log) == 1 ]] || fail "does not warn '$warning' once: $(cat build.log)"
done
run_both_ways odd
"$build/bin/trimtab" inspect odd >out.txt
grep -q '^other_table(int\*) \[BLOCK=64\]' out.txt || fail "a body that fits is not there: $(grep -v '^ ' out.txt)"

# No bodies, a warning each, and a build that stands.
compile none --trimtab-profile=off --trimtab-variants=BLOK=64,128 -DWIDTH=3 --trimtab-variants=WIDTH=64 '-Dabove_all(x)=(x)' \
    --trimtab-variants=above_all=64 -Dpasses=has_passed --trimtab-variants=passes=64
for warning in 'BLOK has no variants: it is no macro of this source' 'WIDTH has no variants: nothing reads it' \
    'above_all has no variants: it is a macro with parameters' 'passes has no variants: its value is no integer'; do
    [[ $(grep -c "trimtab++: warning: .*$warning" build.log) == 1 ]] || fail "does not warn '$warning' once: $(cat build.log)"
done
if grep -q 'variant  ' <<<"$("$build/bin/trimtab" inspect none)"; then fail "has bodies in spite of the warnings"; fi

expect_usage() { # TEXT OPTION
    local status=0
    "$build/bin/trimtab++" "$source/macros.cu" -o none "$2" 2>build.log || status=$?
    ((status == 2)) && grep -qF "trimtab++: error: $2: $1" build.log || fail "$2 is taken, or not refused as '$1': $(cat build.log)"
}
expect_usage 'names no value of BLOCK' --trimtab-variants=BLOCK
expect_usage 'names no value of BLOCK' --trimtab-variants=BLOCK=
expect_usage "'wide' is no integer from 1" --trimtab-variants=BLOCK=64,wide
expect_usage "'' is no integer from 1" --trimtab-variants=BLOCK=64,
expect_usage "'-64' is no integer from 1" --trimtab-variants=BLOCK=-64
expect_usage "'0' is no integer from 1" --trimtab-variants=BLOCK=0
expect_usage '64 is there twice' --trimtab-variants=BLOCK=64,128,64
expect_usage 'wants MACRO=VALUE,VALUE' --trimtab-variants=64,128
expect_usage '17 values: 16 are the most' --trimtab-variants=BLOCK=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17
status=0
"$build/bin/trimtab++" "$source/macros.cu" -o none --trimtab-variants=BLOCK=64 --trimtab-variants=BLOCK=128 2>build.log || status=$?
((status == 2)) && grep -q 'BLOCK is named twice' build.log || fail "a macro is taken twice: $(cat build.log)"

# An error of the source is the source's, once.
status=0
"$build/bin/trimtab++" -O3 -I"$source/../.." "$source/macros.cu" -o none -DBLOCK=undeclared --trimtab-variants=BLOCK=64 2>build.log || status=$?
((status == 1)) && grep -q "use of undeclared identifier 'undeclared'" build.log || fail "the source's own error is not its own: $status $(cat build.log)"
"$build/bin/trimtab++" -O3 -fgpu-rdc -I"$source/../.." "$source/macros.cu" -o rdc --trimtab-profile=off --trimtab-quiet --trimtab-variants=BLOCK=64 2>build.log ||
    fail "relocatable device code does not build: $(cat build.log)"
grep -q 'warning: --trimtab-variants is left out: relocatable device code' build.log || fail "does not say that it is left out: $(cat build.log)"
echo "launches become those of other values of macros"
