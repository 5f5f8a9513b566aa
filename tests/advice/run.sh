#!/usr/bin/env bash
# run.sh BUILD SOURCE: what a run lacks beside its kernels is found, in each way that it can lack it, with the number of
# copies or launches; the mended program is told nothing.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../built_program.sh
source "$(dirname "${BASH_SOURCE[0]}")/../built_program.sh" "$1" "$2"

build_program --trimtab-profile=off
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
"$build/bin/trimtab" advise --against mended.json -- ./"$name" mended >/dev/null 2>>log.txt || fail "is worse than itself"
if "$build/bin/trimtab" advise --against mended.json -- ./"$name" again >/dev/null 2>worse.txt; then fail "again is no worse"; fi
grep -q "the program: redundant transfers" worse.txt || fail "$(cat worse.txt)"
