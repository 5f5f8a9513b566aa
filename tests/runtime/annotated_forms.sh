#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# annotated_forms.sh BUILD: launches of an annotated kernel through the runtime and the driver API get the block, the grid and the
# shared memory that its annotation states; those that it does not describe go out as written, and say why.
set -euo pipefail

build=$1
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/annotated_forms
work=$build/tests/runtime/annotated_forms
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
cd "$work"

fail() {
    echo "annotated_forms: $*"
    cat out.txt log.txt report.jsonl 2>/dev/null || true
    exit 1
}

"$build/bin/trimtab++" -O2 --trimtab-quiet "$here/main.cu" -o main -lcuda 2>log.txt || fail "does not build"
TRIMTAB=off TRIMTAB_DEVICE=rtx2070super ./main >out.txt 2>log.txt || fail "fails as written"
TRIMTAB_REPORT=report.jsonl TRIMTAB_DEVICE=rtx2070super ./main >out.txt 2>log.txt || fail "ends with $?"
grep -qx PASS out.txt || fail "does not pass"
[[ ! -s log.txt ]] || fail "says something"
python3 - <<'END' || fail "the report is not as it should be"
import json

ways = {}
for line in open("report.jsonl"):
    launch = json.loads(line)
    ways[launch["data"]["n"] - 1000000] = launch
assert sorted(ways) == [*range(9), 90, 91, 92], sorted(ways)
for way, launch in ways.items():
    block, grid = launch["chosen"]["block"][0], launch["chosen"]["grid"][0]
    if way < 90:
        assert launch["by"] == "annotated", launch
        assert block < 1024 and block & (block - 1) == 0 and block >= 64, launch
        assert grid == -(-launch["data"]["n"] // (2 * block)), launch
    else:
        assert launch["by"] == "unchanged" and launch["chosen"] == launch["written"], launch
        assert "annotation" in launch["reason"], launch
END
echo ok
