#!/usr/bin/env bash
# suggested.sh BUILD: trimtab suggest finds what grid goes with each variant of variants.cu, in graphs too, and leaves out the one that
# computes something else; what it writes has launches become those of other variants.
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
compile() { # OUTPUT OPTIONS...
    "$build/bin/trimtab++" -O3 -I"$source/../.." "$source/variants.cu" -DWITHOUT_ANNOTATIONS -DWITH_FALSE_VARIANT --trimtab-quiet -o "$@" 2>build.log ||
        fail "$1 does not build: $(cat build.log)"
}

compile plain --trimtab-profile=off
grep -q 'the 4 variants of reduce keep their launches: no annotation states the grid' build.log || fail "does not warn: $(cat build.log)"
"$build/bin/trimtab" suggest --launches 1 --quiet -o found.json -- ./plain >out.txt 2>log.txt || fail "finds nothing: $(cat out.txt log.txt)"
for line in 'TRIMTAB_TUNE(block(bx == variant), grid(ceil(n / bx)))' \
    'TRIMTAB_TUNE(block(bx == variant, by == variant), grid(ceil(n / bx), ceil(n / by)))'; do
    grep -qF "    $line" out.txt || fail "does not suggest $line: $(cat out.txt)"
done
grep -A2 '^void doubled<64>' out.txt | grep -q '1 other variant: 256' || fail "takes the false variant for a true one: $(cat out.txt)"

compile tuned --trimtab-annotations=found.json
grep -q 'void doubled<128>(.*) is no variant of void doubled<64>(' build.log || fail "the false variant is not left out: $(cat build.log)"
TRIMTAB=off ./tuned >off.txt 2>log.txt || fail "fails as written: $(cat off.txt log.txt)"
rm -f report.jsonl
TRIMTAB_DEVICE=rtx2070super TRIMTAB_REPORT=report.jsonl ./tuned >on.txt 2>log.txt || fail "fails as chosen: $(cat on.txt log.txt)"
cmp off.txt on.txt || fail "prints something else as chosen"
python3 "$source/check_report.py" report.jsonl suggested || fail "the report is not as it should be: $(cat report.jsonl)"
"$build/bin/trimtab" verify --launches 1 -- ./tuned >out.txt 2>log.txt || fail "verify is not clean: $(cat out.txt log.txt)"
grep -q '^void reduce<64>(.*the same bytes' out.txt || fail "reduce was not verified: $(cat out.txt)"
echo "suggested, tuned and verified"
