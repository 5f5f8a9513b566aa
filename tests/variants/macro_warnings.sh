#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# macro_warnings.sh BUILD: bodies of macros.cu that cannot be had are said in a line each and left out, and fail no build.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=macros_common.sh
source "$(dirname "${BASH_SOURCE[0]}")/macros_common.sh" "$1"

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
echo "what cannot be had is said and left out"
