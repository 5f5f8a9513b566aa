#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# polybench.sh BUILD SOURCE SIZE KERNEL:RULE:TEXT...: builds SOURCE, runs it, and checks that `trimtab advise` finds RULE in
# KERNEL, at a place where the source says TEXT: from the column on that is given, or in the line where none is.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../../built_program.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../built_program.sh" "$1" "$2"
size=$3
shift 3

build_program
"$build/bin/trimtab" advise --json --sarif advice.sarif -- ./"$name" "$size" >advice.json 2>log.txt ||
    fail "no advice: $(tail -n 5 log.txt)"
python3 - "$name" "$@" <<'END'
import json, math, sys
advice, sarif = json.load(open("advice.json")), json.load(open("advice.sarif"))
for wanted in sys.argv[2:]:
    kernel, rule, text = wanted.split(":", 2)
    found = [k for k in advice["kernels"] if k["kernel"].startswith(kernel + "(")]
    assert found, f"no {kernel} in {[k['kernel'] for k in advice['kernels']]}"
    findings = found[0]["findings"]
    names = [f["rule"] for f in findings]
    assert rule in names, f"{kernel}: {rule} is not among {names}"
    finding = findings[names.index(rule)]
    places = []
    for evidence in finding["evidence"]:
        file, number = evidence["source"].rsplit(":", 1)
        line = open(file).read().splitlines()[int(number) - 1]
        places.append(line[evidence["column"] - 1:] if evidence["column"] else line)
    assert any(place.startswith(text) or (text in place and not evidence["column"])
               for place, evidence in zip(places, finding["evidence"])), f"{kernel}: {rule}: {text} is not at {places}"
    assert finding["gain_at_least"] <= finding["gain"] <= finding["gain_at_most"], finding
    # No loss is advised, unless it is emulation alone that sees one; a range begins below 1 by the stated error alone.
    emulated = finding["gain_by_emulation"] or 1
    assert finding["gain"] >= 1 or finding["gain"] == finding["gain_by_emulation"], finding
    assert finding["gain_at_least"] * math.exp(0.215) >= min(1, emulated) - 1e-9, finding
results = sarif["runs"][0]["results"]
assert len(results) == sum(len(k["findings"]) for k in advice["kernels"])
assert all(r["locations"][0]["physicalLocation"]["region"]["startLine"] > 0 for r in results), "a result without a line"
END
# The same program against its own report: nothing is worse.
"$build/bin/trimtab" advise --against advice.json -- ./"$name" "$size" >/dev/null 2>>log.txt || fail "is worse than itself: $(tail -n 5 log.txt)"
