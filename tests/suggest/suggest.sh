#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# suggest.sh BUILD SUGGESTED SCALE GROUP...: trimtab suggest on kernels of shared_kernels.cu and hostile_kernels.cu. So many get an
# annotation, which then tunes them, from the compiler's option and from the environment, and verify is clean; none of the hostile ones.
set -euo pipefail

build=$1 suggested=$2
shift 2
source=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$build/tests/suggest/$(printf '%s_' "$@")
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
cd "$work"

fail() {
    echo "suggest: $*"
    exit 1
}
compile() { # OUTPUT SOURCE OPTIONS...
    local output=$1 from=$2
    shift 2
    "$build/bin/trimtab++" -O3 "$source/$from" -o "$output" --trimtab-quiet "$@" 2>build.log || fail "$from does not build: $(cat build.log)"
}
suggest() {
    "$build/bin/trimtab" suggest --launches 1 --quiet "$@" >out.txt 2>log.txt
}

# How many kernels other blocks are legal for: chosen among, or kept where the profile does not hold for so small a launch.
decided() {
    grep -F -e '"by":"annotated"' -e 'the prediction of the block as written is uncertain' report.jsonl |
        grep -o '"kernel":"[^"]*"' | sort -u | wc -l
}

compile plain shared_kernels.cu --trimtab-profile=off
suggest --reassociate -o all.json -- ./plain "$@" || fail "finds nothing: $(cat out.txt log.txt)"
grep -qx PASS out.txt || fail "the program fails as its launches are tried: $(cat out.txt)"
count=$(grep -c '^    TRIMTAB_TUNE' out.txt)
((count == suggested)) || fail "suggests $count annotations, not $suggested: $(cat out.txt)"
if [[ " $* " == *" sums "* ]]; then
    grep -qF 'TRIMTAB_TUNE(block(ispow2(bx)), grid(ceil(n / (2 * bx))), dynamic_shared(4 * bx))' out.txt || fail "tree_sum has another annotation: $(cat out.txt)"
fi

compile tuned shared_kernels.cu --trimtab-annotations=all.json
# Kernels that got none may be proved, and need real arrays to be profiled: that is all that may be said of them.
grep -o '"kernel": *"[^"]*"' all.json | cut -d'"' -f4 >suggested.txt
! grep 'warning' build.log | grep -v ' is not profiled: .*: illegal address ' | grep -q . || fail "what was suggested is of no use: $(cat build.log)"
! grep 'warning' build.log | grep -qFf suggested.txt || fail "what was suggested is of no use: $(cat build.log)"
rm -f report.jsonl
TRIMTAB_DEVICE=rtx2070super TRIMTAB_REPORT=report.jsonl ./tuned "$@" >out.txt 2>log.txt || fail "fails as chosen: $(cat out.txt log.txt)"
((count == $(decided))) || fail "not every kernel is tuned: $(cat report.jsonl)"
"$build/bin/trimtab" verify --blocks 4 --launches 1 -- ./tuned "$@" >out.txt 2>log.txt || fail "verify is not clean: $(cat out.txt log.txt)"
((count == $(grep -c 'the same' out.txt))) || fail "verify left kernels alone: $(cat out.txt)"

rm -f report.jsonl
TRIMTAB_ANNOTATIONS=all.json TRIMTAB_MODULES=wait TRIMTAB_DEVICE=rtx2070super TRIMTAB_REPORT=report.jsonl ./plain "$@" >out.txt 2>log.txt ||
    fail "fails with annotations of the environment: $(cat out.txt log.txt)"
((count == $(decided))) ||
    fail "TRIMTAB_ANNOTATIONS does not tune every kernel: $(cat report.jsonl log.txt)"

status=0
TRIMTAB_ANNOTATIONS=none.json ./plain 1 sums >out.txt 2>log.txt || fail "a file that is not there fails the program"
grep -q 'TRIMTAB_ANNOTATIONS: none.json: cannot be read: no annotation is taken' log.txt || fail "does not say that the file is not there: $(cat log.txt)"
"$build/bin/trimtab++" "$source/hostile_kernels.cu" -o none --trimtab-annotations=none.json 2>log.txt || status=$?
((status == 3)) && grep -q 'none.json: cannot be read' log.txt || fail "builds without the file of annotations: $(cat log.txt)"

compile hostile hostile_kernels.cu --trimtab-profile=off
status=0
suggest -- ./hostile || status=$?
((status == 1)) || fail "believes a hostile kernel: $(cat out.txt)"
((5 == $(grep -c 'left alone' out.txt))) || fail "does not say why: $(cat out.txt)"
echo "$count suggested, tuned and verified; none of the hostile"
