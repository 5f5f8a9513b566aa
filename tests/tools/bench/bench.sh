#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bench.sh BUILD SOURCES: trimtab bench finds the emulator's own best block, leaves the program's results as they were,
# and goes on after kill -9 with what it had.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../../built_program.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../built_program.sh" "$1" "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/timed.cu"
trimtab=$build/bin/trimtab

build_as -O3
"$trimtab" bench --device rtx2070super -o whole --quiet --json -- ./timed >whole.json 2>log.txt || fail "bench: $(tail -n 5 log.txt)"
grep -qx PASS log.txt || fail "the program does not see its own results under bench: $(cat log.txt)"

# Every block of every launch is there, and each time is what the program itself would measure with that block.
python3 - whole.json <<'PYTHON' || fail "the times are not as they should be"
import json, sys
bench = json.load(open(sys.argv[1]))
launches = {launch["demangled"].split("(")[0]: launch for launch in bench["launches"]}
assert set(launches) == {"scale", "add_up", "count"}, launches.keys()
assert [s["kernel"].split("(")[0] for s in bench["skipped"]] == ["place_in_block"], bench["skipped"]
for name, launch in launches.items():
    shapes = launch["shapes"]
    assert launch["emulated"] and all(len(s["ns"]) == 1 for s in shapes), name
    best = min(s["median_ns"] for s in shapes)
    assert launch["compared"]["best"]["median_ns"] == best
    assert launch["compared"]["as written"]["share_of_best"] <= 1
    assert "occupancy API" in launch["compared"]
    blocks = {tuple(s["block"]) for s in shapes}
    assert len(blocks) == len(shapes) > 20, (name, len(shapes))
    assert max(x * y * z for x, y, z in blocks) == 1024, name
assert (16, 16, 1) in {tuple(s["block"]) for s in launches["add_up"]["shapes"]}
assert len(launches["add_up"]["shapes"]) > 100
PYTHON
for file in index.html times.csv bench.json; do
    [[ -s whole/$file ]] || fail "there is no $file"
done
[[ $(find whole -name '*.t4.json' | wc -l) == 3 ]] || fail "there are no three T4 files: $(ls whole)"

# The emulator's own best: the program with that block takes what bench says, and with the one as written what it says.
for kernel in scale add_up; do
    python3 - whole.json "$kernel" >best.txt <<'PYTHON'
import json, sys
launch = next(l for l in json.load(open(sys.argv[1]))["launches"] if l["demangled"].startswith(sys.argv[2]))
best = min(launch["shapes"], key=lambda s: s["median_ns"])
print(*best["block"], best["median_ns"], launch["compared"]["as written"]["median_ns"])
PYTHON
    read -r x y z ns written <best.txt
    arguments=(--arg n=3000)
    shape=(--grid 12 --block 256)
    [[ $kernel == scale ]] || arguments=(--arg width=60 --arg height=50) shape=(--grid 4,4 --block 16,16)
    grid=$(((3000 + x - 1) / x))
    [[ $kernel == scale ]] || grid=$(((60 + x - 1) / x)),$(((50 + y - 1) / y))
    for try in "$ns --grid $grid --block $x,$y,$z" "$written ${shape[*]}"; do
        read -r expected options <<<"$try"
        # shellcheck disable=SC2086 # several options
        "$trimtab" predict ./timed --kernel "$kernel" --device rtx2070super "${arguments[@]}" $options --measure --json >predicted.json ||
            fail "predict $options"
        python3 - predicted.json "$expected" <<'PYTHON' || fail "$kernel $options: bench has $expected, predict $(cat predicted.json)"
import json, sys
text = json.load(open(sys.argv[1]))
ns = text.get("predicted_ns") or text.get("ns")
# Predict samples blocks on arrays of its own.
assert abs(ns / float(sys.argv[2]) - 1) < 0.05, (ns, sys.argv[2])
PYTHON
    done
done

# Killed in the middle, by a signal that nothing can hold back: what was timed stays, and the rest is timed the next time.
"$trimtab" bench --device rtx2070super -o cut --quiet -- ./timed >cut.txt 2>cut.log &
bench=$!
for ((i = 0; i < 6000; ++i)); do
    [[ -e cut/times.jsonl ]] && (($(wc -l <cut/times.jsonl) > 25)) && break
    sleep 0.01
done
program=$(pgrep -P "$bench" || true)
kill -9 "$bench" ${program:+"$program"} 2>/dev/null || true
wait "$bench" 2>/dev/null || true
lines=$(wc -l <cut/times.jsonl)
((lines > 25)) || fail "nothing was timed before the kill: $(cat cut.log)"
# However far it came: half of it, and a line that was cut.
((lines > 60)) && lines=60
head -n "$lines" cut/times.jsonl >before.jsonl
{ cat before.jsonl && printf '{"launch":"cut in the mid'; } >cut/times.jsonl
"$trimtab" bench --device rtx2070super -o cut --quiet -- ./timed >cut.txt 2>cut.log || fail "it does not go on: $(cat cut.log)"
cmp <(head -n "$lines" cut/times.jsonl) before.jsonl || fail "what was timed before is not there any more"
cmp <(sort cut/times.jsonl) <(sort whole/times.jsonl) || fail "it does not end where an undisturbed one does"
# Once more, and nothing is left to do.
cp cut/times.jsonl before.jsonl
"$trimtab" bench --device rtx2070super -o cut --quiet -- ./timed >cut.txt 2>cut.log || fail "a third time: $(cat cut.log)"
cmp cut/times.jsonl before.jsonl || fail "launches are timed again"

# Another program's times are not mixed with these; a few shapes are those that are compared.
status=0
"$trimtab" bench --device h100 -o cut --quiet -- ./timed >out.txt 2>log.txt || status=$?
((status == 3)) && grep -q 'holds times of ./timed on rtx2070super' log.txt || fail "other times are mixed in: $status $(cat log.txt)"
"$trimtab" bench --device h100 --again --blocks 12 -o cut --quiet --json -- ./timed >few.json 2>log.txt || fail "--again: $(cat log.txt)"
python3 -c '
import json
for launch in json.load(open("few.json"))["launches"]:
    assert len(launch["shapes"]) == 13, len(launch["shapes"])
    assert launch["compared"]["occupancy API"]["median_ns"]' || fail "a few shapes are not those that are compared"
status=0
"$trimtab" bench --blocks 0 -- ./timed 2>log.txt || status=$?
((status == 2)) || fail "--blocks 0 ends with $status"
echo "bench finds the best, and goes on after kill -9"
