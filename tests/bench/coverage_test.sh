#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# coverage_test.sh BUILD SOURCES: bench/coverage over a program that is built, one that is built already and one that does not
# build gives the counts that are known of them, as JSON and as a table.
set -euo pipefail
build=$1
sources=$2
work=$build/tests/coverage
rm -rf "$work"
mkdir -p "$work/programs"
export XDG_CACHE_HOME=$work/cache
cp "$sources/tests/programs/row_loops.cu" "$work/programs"
printf 'int main() { return }\n' >"$work/programs/broken.cu"
"$build/bin/trimtab++" -O1 "$sources/tests/programs/row_loops.cu" -o "$work/programs/built" 2>"$work/build.log"

"$sources/bench/coverage/coverage.py" "$build" "$work/programs" --json >"$work/coverage.json"
python3 - "$work/coverage.json" <<'CHECK'
import json
import sys

found = json.load(open(sys.argv[1], encoding="utf-8"))
assert found["programs"] == 2 and found["kernels"] == 10, found
assert found["verdicts"] == {"covering": 10}, found["verdicts"]
# Four kernels are launched with another block; the fifth has arguments that forbid it.
assert found["launches"] == 10 and found["tuned_launches"] == 8 and found["launched_kernels"] == 10, found
assert [line["launches"] for line in found["kept"]] == [2], found["kept"]
assert len(found["skipped"]) == 1 and "does not build" in next(iter(found["skipped"].values())), found["skipped"]
for program in found["per_program"]:
    for launch in program["launches"]:
        assert launch["written_ns"] > 0 and launch["chosen_ns"] > 0, launch
        assert launch["decided"] or launch["written_ns"] == launch["chosen_ns"], launch
time = found["modelled_ns"]
assert 0 < time["chosen"] < time["written"] and 0 < time["tuned_share"] < 1, time
CHECK
"$sources/bench/coverage/coverage.py" "$build" "$work/programs" --kernels --device rtx2070super,h100 >"$work/table.txt"
grep -qF '| covering | 10 of 10 (100 %) |' "$work/table.txt"
grep -qF '| kernels tuned | 8 of 10 (80 %) |' "$work/table.txt"
grep -qE '^\| row_loops \| shift \| covering \| 1 \| [0-9x]+ \|  \|  \| with these arguments, its loops over threadIdx' "$work/table.txt"
(($(grep -cE '^\| built \| [a-z_]+ \| covering \| 1 \| [0-9x]+ \| [0-9x]+: [-0-9.]+ % \| [0-9x]+: [-0-9.]+ % \|' "$work/table.txt") == 4))
grep -qE '^skipped: .*broken.cu: does not build' "$work/table.txt"
! "$sources/bench/coverage/coverage.py" "$build" "$work/cache" >"$work/none.txt" || exit 1
