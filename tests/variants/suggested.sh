#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# suggested.sh BUILD: trimtab suggest finds what grid goes with each variant of variants.cu and macros.cu, in graphs too, and leaves out the
# one that computes something else; what it writes has launches become those of other variants, built in and beside the program.
set -euo pipefail

build=$1
source=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$build/tests/variants/suggested
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
cd "$work"

fail() {
    echo "suggested variants: $*"
    exit 1
}
compile() { # SOURCE OUTPUT OPTIONS...
    "$build/bin/trimtab++" -O3 -I"$source/../.." "$source/$1.cu" -DWITHOUT_ANNOTATIONS --trimtab-quiet -o "${@:2}" 2>build.log ||
        fail "$2 does not build: $(cat build.log)"
}
suggest() { # PROGRAM FILE
    "$build/bin/trimtab" suggest --launches 1 --quiet -o "$2" -- "./$1" >out.txt 2>log.txt || fail "finds nothing for $1: $(cat out.txt log.txt)"
}
says() { # LINE...: each is suggested
    for line in "$@"; do
        grep -qF "    TRIMTAB_TUNE($line)" out.txt || fail "does not suggest $line: $(cat out.txt)"
    done
}
run_as_chosen() { # PROGRAM [VARIABLE=VALUE...]: the report, of the same output
    TRIMTAB=off "./$1" >off.txt 2>log.txt || fail "$1 fails as written: $(cat off.txt log.txt)"
    rm -f report.jsonl
    env "${@:2}" TRIMTAB_DEVICE=rtx2070super TRIMTAB_REPORT=report.jsonl "./$1" >on.txt 2>log.txt || fail "$1 fails as chosen: $(cat on.txt log.txt)"
    cmp off.txt on.txt || fail "$1 prints something else as chosen"
}

# Templates, in graphs too; one body computes something else.
compile variants plain -DWITH_FALSE_VARIANT --trimtab-profile=off
grep -q 'the 4 variants of reduce keep their launches: no annotation states the grid' build.log || fail "does not warn: $(cat build.log)"
suggest plain found.json
says 'block(bx == variant), grid(ceil(n / bx))' 'block(bx == variant, by == variant), grid(ceil(n / bx), ceil(n / by))'
grep -A2 '^void doubled<64>' out.txt | grep -q '1 other variant: 256' || fail "takes the false variant for a true one: $(cat out.txt)"

compile variants tuned -DWITH_FALSE_VARIANT --trimtab-annotations=found.json
grep -q 'void doubled<128>(.*) is no variant of void doubled<64>(' build.log || fail "the false variant is not left out: $(cat build.log)"
run_as_chosen tuned
python3 "$source/check_report.py" report.jsonl suggested || fail "the report is not as it should be: $(cat report.jsonl)"
"$build/bin/trimtab" verify --launches 1 -- ./tuned >out.txt 2>log.txt || fail "verify is not clean: $(cat out.txt log.txt)"
grep -q '^void reduce<64>(.*the same bytes' out.txt || fail "reduce was not verified: $(cat out.txt)"
# The program as it was, with the file beside it.
run_as_chosen plain TRIMTAB_ANNOTATIONS=found.json TRIMTAB_MODULES=wait
python3 "$source/check_report.py" report.jsonl suggested || fail "the report with the file beside the program is not as it should be: $(cat report.jsonl log.txt)"

# Macros. The body that an annotation of another value stands for is told by its name.
macros=(--trimtab-variants=BLOCK=64,128,256,512 --trimtab-variants=TILE=16,32)
compile macros macro -DBLOCK=64 "${macros[@]}" --trimtab-profile=off
grep -q 'the 4 variants of reduce(.*) keep their launches: no annotation states the grid' build.log || fail "does not warn of the macro's: $(cat build.log)"
suggest macro macros.json
says 'block(bx == variant), grid(ceil(ex / bx))' 'block(bx == variant), grid(ceil(n / bx)), dynamic_shared(4 * bx)' \
    'block(bx == variant, by == variant), grid(ceil(n / bx), ceil(n / by))'
compile macros tuned_macro -DBLOCK=64 "${macros[@]}" --trimtab-annotations=macros.json
run_as_chosen tuned_macro
python3 "$source/check_macros.py" report.jsonl suggested || fail "the report of macros is not as it should be: $(cat report.jsonl)"
run_as_chosen macro TRIMTAB_ANNOTATIONS=macros.json TRIMTAB_MODULES=wait
python3 "$source/check_macros.py" report.jsonl suggested || fail "the report of macros with the file beside is not as it should be: $(cat report.jsonl log.txt)"
# A build without the bodies takes the file all the same.
compile macros bare -DBLOCK=64 --trimtab-annotations=macros.json
run_as_chosen bare
if grep -q '"kernel":"[^"]*\$' report.jsonl; then fail "a body is launched that there is not: $(cat report.jsonl)"; fi
echo "suggested, tuned and verified"
