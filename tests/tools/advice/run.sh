#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run.sh BUILD SOURCE: what a run lacks beside its kernels is found, in each way that it can lack it, with the number of
# copies or launches; the mended program is told nothing.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../../built_program.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../built_program.sh" "$1" "$2"

build_as -O3 --trimtab-profile=off
for mode in again round fetch serial need mended; do
    # shellcheck disable=SC2154 # build: of built_program.sh
    "$build/bin/trimtab" advise --json -- ./"$name" $mode >$mode.json 2>log.txt || fail "$mode: $(tail -n 5 log.txt)"
done
python3 - <<'END'
import json
wanted = {"again": ("redundant-transfers", "8 of 9 copies to the device bring bytes that it holds already"),
          "round": ("redundant-transfers", "8 of 9 copies to the device bring back what was fetched"),
          "fetch": ("redundant-transfers", "8 of 9 copies to the host fetch what it fetched before"),
          "serial": ("serial-launches", "4 launches of turn"), "need": None, "mended": None}
for mode, finding in wanted.items():
    advice = json.load(open(mode + ".json"))
    found = advice["program_findings"]
    if finding is None:
        assert found == [], f"{mode}: {found}"
        continue
    rule, text = finding
    assert [f["rule"] for f in found] == [rule], f"{mode}: {found}"
    assert found[0]["evidence"][0]["text"].startswith(text), f"{mode}: {found[0]['evidence']}"
    assert 1 <= found[0]["gain_at_least"] <= found[0]["gain"], found
    # What is left out is what the copies took.
    transfers = advice["transfers"]
    all_ns = advice["total_ns"] + transfers["to_device"]["ns"] + transfers["to_host"]["ns"]
    assert abs(found[0]["gain"] - all_ns / (all_ns - found[0]["saves_ns"])) < 1e-9, found
END
# As a part of a run: the program's output and status are its own, and the advice is the same.
"$build/bin/trimtab" run --advise -- ./"$name" again >again.out 2>again.txt || fail "run --advise: $(tail -n 5 again.txt)"
./"$name" again 2>/dev/null | cmp - again.out || fail "run --advise changes what the program writes"
grep -q "redundant-transfers" again.txt || fail "run --advise says: $(cat again.txt)"
"$build/bin/trimtab" run --advise --json -- ./"$name" again 2>again.txt >run.json || fail "run --advise --json: $(tail -n 5 again.txt)"
python3 -c 'import json; found = [[f["rule"] for f in json.load(open(name))["program_findings"]] for name in ("again.json", "run.json")]; assert found[0] == found[1], found' ||
    fail "run --advise --json is no advice of the run"
status=0
"$build/bin/trimtab" run --advise -- ./"$name" fail >again.out 2>again.txt || status=$?
[[ $status == 7 ]] && cmp -s again.out <(./"$name" fail) || fail "run --advise: status $status, $(cat again.out again.txt)"
status=0
"$build/bin/trimtab" run --advise -- ./"$name" nothing >again.out 2>again.txt || status=$?
[[ $status == 7 ]] && grep -q 'left no record of a kernel' again.txt || fail "run --advise of a failure before any launch: status $status, $(cat again.txt)"
"$build/bin/trimtab" advise --against mended.json -- ./"$name" mended >/dev/null 2>>log.txt || fail "is worse than itself"
if "$build/bin/trimtab" advise --against mended.json -- ./"$name" again >/dev/null 2>worse.txt; then fail "again is no worse"; fi
grep -q "the program: redundant transfers" worse.txt || fail "$(cat worse.txt)"
# On several GPUs, the fastest first: the bodies of one launch take as long on each as advice on that GPU says.
"$build/bin/trimtab" advise --devices rtx2070super,c2075,a100-pcie-40gb --json -- ./"$name" mended >devices.json 2>devices.txt ||
    fail "advise --devices: $(tail -n 5 devices.txt)"
"$build/bin/trimtab" advise --device c2075 --json -- ./"$name" mended >one.json 2>one.txt || fail "$(tail -n 5 one.txt)"
[[ $(grep -c . devices.txt) == $(grep -c . one.txt) ]] || fail "advise --devices shows the output of more than one run: $(cat devices.txt)"
python3 - <<'END'
import json, math
devices = json.load(open("devices.json"))["devices"]
assert sorted(d["device"] for d in devices) == ["a100-pcie-40gb", "c2075", "rtx2070super"], devices
times = [d["time_ns"] for d in devices]
assert times == sorted(times) and times[0] > 0, times
one = json.load(open("one.json"))
other = next(d for d in devices if d["device"] == "c2075")
assert other["sm_count"] == 14 and devices[-1] is other, devices
wanted = sum(k["total_ns"] * math.sqrt(k["emulated_ns"] / k["time_ns"]) if k["emulated_ns"] else k["total_ns"] for k in one["kernels"])
assert abs(other["time_ns"] / wanted - 1) < 1e-9, (other["time_ns"], wanted)
END
"$build/bin/trimtab" advise --devices c2075,h100 -- ./"$name" mended >devices.out 2>/dev/null || fail "advise --devices"
[[ $(sed -n 2p devices.out) == h100* && $(sed -n 3p devices.out) == c2075* ]] || fail "$(cat devices.out)"
for wrong in c2075 c2075,c2075 c2075,nothing ,; do
    status=0
    "$build/bin/trimtab" advise --devices "$wrong" -- ./"$name" mended >wrong.out 2>wrong.txt || status=$?
    [[ $status == 3 && $(wc -l <wrong.txt) == 1 && ! -s wrong.out ]] || fail "--devices $wrong: status $status, $(cat wrong.txt)"
done
