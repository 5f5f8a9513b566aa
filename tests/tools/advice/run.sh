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
