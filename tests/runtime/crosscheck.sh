#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# crosscheck.sh BUILD: a program with TRIMTAB_CROSSCHECK: what its log and report say, that its results are those of the launches
# as written, and what it does without the library, with a bad value, and where it ends first.
set -euo pipefail

build=$1
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/crosscheck
work=$build/tests/runtime/crosscheck
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache TRIMTAB_DEVICE=rtx2070super
cd "$work"

fail() {
    echo "crosscheck: $*"
    cat log.txt report.jsonl 2>/dev/null || true
    exit 1
}

"$build/bin/trimtab++" -O3 --trimtab-quiet "$here/main.cu" -o main 2>log.txt || fail "does not build"
TRIMTAB=off ./main 6 >off.txt || fail "fails as written"

# The check takes a tenth of a second; the third launch comes after two.
TRIMTAB_CROSSCHECK=top:4 TRIMTAB_CROSSCHECK_LAUNCH=3 TRIMTAB_CROSSCHECK_SECONDS=60 TRIMTAB_LOG=info \
    TRIMTAB_REPORT=report.jsonl ./main 4 1500 >on.txt 2>log.txt || fail "ends with $?"
TRIMTAB=off ./main 4 >off4.txt
cmp -s on.txt off4.txt || fail "its results are others"
python3 - <<'END' || fail "the report is not as it should be"
import json

ways = {}
for line in open("report.jsonl"):
    launch = json.loads(line)
    ways.setdefault("product" if "product" in launch["kernel"] else "gather", []).append(launch)
for name, launches in ways.items():
    assert len(launches) == 4
    assert [("crosscheck" in one) for one in launches] == [False, False, True, False], launches
product, gather = (ways[name][2]["crosscheck"] for name in ("product", "gather"))
assert product["end"] in ("confirmed", "changed"), product
assert all(one["emulated_ns"] > 0 and one["predicted_ns"] > 0 for one in product["launches"]), product
assert 3 <= len(product["launches"]) <= 5, product
assert [4, 8, 1] in [one["block"] for one in product["launches"]], product
assert gather["end"] == "not judged" and "depends on memory" in gather["why"], gather
assert all(one["emulated_ns"] is None for one in gather["launches"]), gather
END
grep -q "cross-check of 2 choices: .* 1 not judged, 0 late, 0 not finished" log.txt || fail "the log does not sum up"

# What an earlier process has found holds from the first launch on.
rm -f report.jsonl choices.sqlite
for way in first second; do
    TRIMTAB_CROSSCHECK=top:4 TRIMTAB_CROSSCHECK_LAUNCH=0 TRIMTAB_CROSSCHECK_SECONDS=60 TRIMTAB_CHOICES=choices.sqlite \
        TRIMTAB_REPORT=$way.jsonl TRIMTAB_LOG=info ./main 2 1500 >on.txt 2>$way.txt || fail "ends with $?"
done
grep -q "for later processes" first.txt || fail "nothing is kept"
if grep -q "cross-check" second.txt; then fail "what was kept is checked again"; fi
(($(grep -c '"by":"remembered"' second.jsonl) == 4)) || fail "what was kept is not used"

# A process that ends while its choices are emulated: while the library is loaded, the PTX read, blocks run, or it is over.
begin=$SECONDS
for milliseconds in 0 1 2 4 6 8 10 12 15 20 25 30 40 50 70 90; do
    TRIMTAB_CROSSCHECK=top:16 ./main 1 $milliseconds >on.txt 2>log.txt || fail "ends with $? after $milliseconds ms"
    [[ ! -s log.txt ]] || fail "says something"
done
# The window for a crash is narrow; what would open it is that the library's statics are destroyed at exit.
if grep -q __cxa_atexit <<<"$(nm -D --undefined-only "$build/lib/libtrimtab_crosscheck.so")"; then fail "its statics are destroyed at exit"; fi
((SECONDS - begin < 60)) || fail "takes $((SECONDS - begin)) s to end"

# A bad value is one line, and nothing else.
TRIMTAB_CROSSCHECK=always ./main 6 >on.txt 2>log.txt || fail "ends with $?"
cmp -s on.txt off.txt || fail "its results are others"
[[ $(cat log.txt) == "trimtab: TRIMTAB_CROSSCHECK=always is not understood: it takes off or top:K, K from 2 to 16; taken as off" ]] ||
    fail "a bad value is not said"

# Without the library.
mkdir lib
cp -L "$build"/lib/libtrimtab.so.0 "$build"/lib/libtrimtab_cudart.so "$build"/lib/libtrimtab_jit.so lib
LD_LIBRARY_PATH=$work/lib TRIMTAB_CROSSCHECK=top:4 TRIMTAB_CROSSCHECK_LAUNCH=2 ./main 6 100 >on.txt 2>log.txt || fail "ends with $?"
cmp -s on.txt off.txt || fail "its results are others"
(($(wc -l <log.txt) == 1)) || fail "not one line"
grep -q "TRIMTAB_CROSSCHECK: libtrimtab_crosscheck.so: .*: choices are not checked" log.txt || fail "does not say what is missing"
echo PASS
