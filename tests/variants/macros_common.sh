#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Sourced with BUILD: what the tests of macros.cu have in common, in a work folder of their own.
build=$1
source=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$build/tests/variants/$(basename "$0" .sh)
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
