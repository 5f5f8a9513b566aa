#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bad_input.sh BUILD: each is one line that names the file, and the exit code of its kind.
set -euo pipefail
trimtab=$1/bin/trimtab
work=$1/tests/tools/advice/bad_input
rm -rf "$work"
mkdir -p "$work"
cd "$work"

expect() { # CODE TEXT ARGUMENTS...
    local code=$1 text=$2 got=0 said
    shift 2
    said=$("$trimtab" advise "$@" 2>&1 >/dev/null) || got=$?
    [[ $got == "$code" ]] || { echo "advise $*: exit $got, not $code: $said"; exit 1; }
    [[ $said == *"$text"* && $(wc -l <<<"$said") == 1 ]] || { echo "advise $*: said $said"; exit 1; }
}

echo '{"advice": 1, "device": "h10' >cut.json
echo '{"advice": 9, "kernels": []}' >other.json
echo '{"kernels": []}' >no_report.json
echo '.version 7.8' >kernel.ptx
expect 3 'true: launched no kernel' -- /bin/true
expect 3 'no such program' -- nowhere/program
expect 3 'kernel.ptx: is no program' kernel.ptx
expect 3 'missing.cu: no such file' missing.cu
expect 3 'cut.json:' --against cut.json -- /bin/true
expect 3 'other.json: report.advice is 9: a report of another version' --against other.json -- /bin/true
expect 3 'no_report.json: report has no member "advice"' --against no_report.json -- /bin/true
expect 3 'device "h1000" is not known' --device h1000 -- /bin/true
expect 3 'nowhere/a.sarif: the report cannot be written' --sarif nowhere/a.sarif -- /bin/true
expect 2 'requires --block' --grid 1 kernel.ptx
expect 2 'requires --block' kernel.ptx --grid 1
sed '/"l2_bytes"/d' "$2/core/model/devices/h100.json" >half.json
expect 3 'l2_bytes' --device half.json -- /bin/true
TRIMTAB_DEVICE=gpu expect 3 'on the emulator, not on a GPU' -- /bin/true
counters=$2/tests/tools/advice/counters
head -c 2900 "$counters/raw.csv" >cut.csv
sed 's/"3,189.50"/"3,189.5O"/' "$counters/raw.csv" >garbled.csv
sed 's/"# SMs","SM","40"/"# SMs","SM","41"/' "$counters/details.csv" >unknown.csv
printf '{"bench": 1}\n' >no_counters.jsonl
expect 3 'nowhere.csv: cannot be read: No such file' --counters nowhere.csv
expect 3 'kernel.ptx: no line begins with "ID"' --counters kernel.ptx
expect 3 'cut.csv:6:' --counters cut.csv
expect 3 "garbled.csv:6:" --counters garbled.csv
expect 3 "'3,189.5O' is no number that a counter can have" --counters garbled.csv
expect 3 'unknown.csv: is of a GPU of compute capability 7.5 with 41 SMs, which no description is of' --counters unknown.csv
expect 3 'no_counters.jsonl: holds no counters of a launch' --counters no_counters.jsonl
expect 3 'missing.cu' --counters "$counters/raw.csv" missing.cu
expect 3 'device "h1000" is not known' --counters "$counters/raw.csv" --device h1000
expect 2 'one FILE beside it' --counters "$counters/raw.csv" -- a b
expect 2 'it takes no other latencies' --counters "$counters/raw.csv" --set dram.gap=2
expect 2 'excludes' --counters "$counters/raw.csv" --devices h100,t4
