#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# program_workers.sh BUILD SOURCES: verify, suggest and bench say the same bytes with workers as without, also where one
# of those is killed and one talks nonsense; where none works, this process does all.
set -euo pipefail

build=$1 sources=$2
work=$build/tests/pipeline/program_workers
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
cd "$work"

fail() {
    echo "program_workers: $*"
    exit 1
}
trimtab=$build/bin/trimtab

"$build/bin/trimtab++" -O3 --trimtab-profile=off "$sources/tests/verify/unsound.cu" -o unsound 2>build.log || fail "$(cat build.log)"

# Ends by signal 9 with its first task, and works when it is started again.
killed="test -e mark && exec '$trimtab' worker; touch mark; exec '$build/bin/trimtab_fake_worker' dies"
declare -A manners=([alone]="" [two]="--workers=2" [lost]="--workers=$killed --workers=echo&echo&sleep+1" [none]="--workers=2*false")
for manner in alone two lost none; do
    rm -f mark
    mapfile -t workers < <(sed 's/ --/\n--/g; s/+/ /g' <<<"${manners[$manner]}" | sed '/^$/d')
    status=0
    "$trimtab" verify "${workers[@]}" --blocks 3 --launches 2 --report "verify-$manner.json" -- ./unsound \
        >"verify-$manner.txt" 2>"verify-$manner.log" || status=$?
    ((status == 1)) || fail "verify, $manner: ends with $status: $(cat "verify-$manner".*)"
    grep -qx PASS "verify-$manner.txt" || fail "verify, $manner: the program's output: $(cat "verify-$manner.txt")"
    # Addresses are those of a process, and how far the race of neighbour() goes is each run's: it alone differs.
    sed -i 's/0x[0-9a-f]*/ADDRESS/g; /"\.\/trimtab-bug/d
            /"kind": "/,/"found"/s/"words": [0-9]*\|"place": "[^"]*"/RACE/' "verify-$manner.json"
    cmp verify-alone.json "verify-$manner.json" || fail "verify, $manner: other bytes"
done
for manner in alone two; do
    workers=()
    [[ $manner == alone ]] || workers=(--workers=2)
    "$trimtab" bench "${workers[@]}" --device rtx3090 --blocks 3 --quiet -o "bench-$manner" -- ./unsound \
        >"bench-$manner.txt" 2>"bench-$manner.log" || fail "bench, $manner: $(cat "bench-$manner.log")"
    status=0
    "$trimtab" suggest "${workers[@]}" --seconds 0 --launches 1 --quiet --json -o "suggest-$manner.annotations" -- ./unsound \
        >"suggest-$manner.json" 2>"suggest-$manner.log" || status=$?
    ((status < 2)) || fail "suggest, $manner: ends with $status: $(cat "suggest-$manner.log")"
    sed -i 's/0x[0-9a-f]*/ADDRESS/g' "suggest-$manner.json"
done
for file in bench-alone/{times.jsonl,bench.json,index.html} suggest-alone.{json,annotations}; do
    cmp "$file" "${file/alone/two}" || fail "${file/alone/two} has other bytes than $file"
done
grep -q '"launches": [1-9]' verify-alone.json || fail "verify checked nothing"
[[ $(grep -c '"round"' bench-alone/times.jsonl) -ge 8 ]] || fail "bench timed nothing"
! grep -q warning verify-two.log || fail "two workers: $(cat verify-two.log)"
grep -q 'is no message' verify-lost.log || fail "nonsense is not told: $(cat verify-lost.log)"
grep -q 'signal 9' verify-lost.log || fail "the killed worker is not told: $(cat verify-lost.log)"
grep -q 'is done here: there is no worker left' verify-none.log || fail "no workers: $(cat verify-none.log)"
# What is no list of workers is named before anything runs.
status=0
"$trimtab" verify --workers=0 -- ./unsound >out.txt 2>log.txt || status=$?
((status == 2)) && grep -q -- '--workers=0' log.txt && [[ ! -s out.txt ]] || fail "--workers=0: $status $(cat out.txt log.txt)"
echo "verify, suggest and bench: the same bytes"
