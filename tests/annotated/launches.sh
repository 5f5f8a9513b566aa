#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# launches.sh BUILD: annotated.cu as written, as chosen and under verify: launches that the annotations describe get other blocks on their
# word, with the grid and shared memory that go with them; the others go out as written, and the report says why.
set -euo pipefail

build=$1
source=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$build/tests/annotated/launches
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
cd "$work"

fail() {
    echo "annotated: $*"
    exit 1
}

"$build/bin/trimtab++" -O3 "$source/annotated.cu" -o annotated 2>build.log || fail "does not build: $(cat build.log)"
if grep -q warning build.log; then fail "warns while it builds: $(cat build.log)"; fi
TRIMTAB=off ./annotated >off.txt 2>log.txt || fail "fails as written: $(cat off.txt log.txt)"
for device in rtx2070super h100; do
    rm -f report.jsonl
    TRIMTAB_DEVICE=$device TRIMTAB_REPORT=report.jsonl ./annotated >on.txt 2>log.txt || fail "fails as chosen: $(cat on.txt log.txt)"
    cmp off.txt on.txt || fail "prints something else as chosen"
    ! grep -v 'kernels are interpreted' log.txt >&2 || fail "warns as it runs: $(cat log.txt)"
    python3 "$source/check_report.py" report.jsonl || fail "the report on $device is not as it should be"
done

inspected=$("$build/bin/trimtab" inspect annotated)
for part in 'verdict    annotated' 'annotation blocks with .*bx <= 512' 'annotation a grid of' 'annotation bx \* 4\|annotation 4 \* bx bytes'; do
    grep -q "$part" <<<"$inspected" || fail "inspect does not say '$part': $inspected"
done
selected=$("$build/bin/trimtab" select annotated --kernel reduced --device rtx2070super --arg n=300000 --json)
python3 -c '
import json, sys
answer = json.loads(sys.argv[1])
blocks = sorted((b["bx"], b["by"], b["bz"]) for b in answer["ranking"])
assert blocks == [(64, 1, 1), (128, 1, 1), (256, 1, 1), (512, 1, 1)], blocks
' "$selected" || fail "select offers other blocks: $selected"
"$build/bin/trimtab" predict annotated --kernel reduced --device rtx2070super --arg n=300000 --grid 586 --block 256 --json >predicted.json
grep -q '"by": "driver"' predicted.json || fail "predict does not ask the driver program: $(cat predicted.json)"

"$build/bin/trimtab" verify --blocks 6 --launches 1 -- ./annotated >out.txt 2>log.txt || fail "verify is not clean: $(cat out.txt log.txt)"
for kernel in reduced turned Sample hungry; do
    grep -q "^$kernel(.*the same bytes" out.txt || fail "$kernel was not verified: $(cat out.txt)"
done
status=0
"$build/bin/trimtab" verify --blocks 6 --launches 1 -- ./annotated with_false_claim >out.txt 2>log.txt || status=$?
((status == 1)) || fail "verify believes the false claim: $(cat out.txt log.txt)"
grep -q '^claimed(.*DIFFER' out.txt || fail "verify does not catch the false claim: $(cat out.txt)"
echo "annotated launches follow their annotations"
