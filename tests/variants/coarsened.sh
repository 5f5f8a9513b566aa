#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# coarsened.sh BUILD: kernels with bodies in which a thread does the work of several (--trimtab-coarsen), as written, as chosen
# and under verify; and kernels that must have none.
set -euo pipefail

build=$1
source=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$build/tests/variants/coarsened
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache TRIMTAB_DEVICE=rtx2070super
cd "$work"

fail() {
    echo "coarsened: $*"
    exit 1
}
build_with() { # FILE, OPTIONS...
    "$build/bin/trimtab++" -O3 "$source/coarsened.cu" --trimtab-quiet "${@:2}" -o "$1" 2>build.log ||
        fail "does not build with ${*:2}: $(cat build.log)"
}

build_with plain --trimtab-profile=off
build_with coarsened --trimtab-coarsen=3,8
[[ ! -s build.log ]] || fail "warns while it builds: $(cat build.log)"

"$build/bin/trimtab" inspect plain >out.txt
! grep -q 'elements a thread' out.txt || fail "there are bodies that nobody asked for"
"$build/bin/trimtab" inspect coarsened >out.txt
grep '\[.* elements a thread in [xyz]\]$' out.txt | sort >bodies.txt
for kernel in scale early_returns fused branch_behind steps two_ways modes histogram counted sorted untested scaled_test; do
    for count in 3 8; do
        grep -q "^$kernel(.*\[$count elements a thread in x\]" bodies.txt || fail "$kernel has no body of $count: $(cat bodies.txt)"
    done
done
for kernel in stencil product box rows volume; do
    grep -q "^$kernel(.*\[8 elements a thread in y\]" bodies.txt || fail "$kernel has no body: $(cat bodies.txt)"
done
! grep '^no_' bodies.txt || fail "there are bodies of kernels that must have none"
grep -q '^  work       8 elements a thread in y: ' out.txt || fail "inspect does not say what a body is"

# The same with and without, for sizes that are multiples of nothing, of all, and small.
for size in 5000 120000 6144 3; do
    TRIMTAB=off ./coarsened "$size" >off.txt 2>log.txt || fail "fails as written: $(cat off.txt log.txt)"
    rm -f report.jsonl
    TRIMTAB_REPORT=report.jsonl ./coarsened "$size" >on.txt 2>log.txt || fail "fails as chosen: $(cat on.txt log.txt)"
    cmp off.txt on.txt || fail "prints something else as chosen, of $size: $(diff off.txt on.txt)"
    [[ $size != 120000 ]] || mv report.jsonl large.jsonl
done
python3 - <<'END' || fail "the report is not as it should be: $(cat large.jsonl)"
import json

launches = [json.loads(line) for line in open("large.jsonl")]
other = [launch for launch in launches if "kernel" in launch["chosen"] and launch["chosen"]["kernel"].rsplit("$", 2)[1][-1] in "xy"]
names = {launch["kernel"] for launch in other}
assert any("box" in name for name in names), names
assert not any("no_" in name and "no_index" not in name and "no_other" not in name for name in names), names
for launch in other:
    body, of, count = launch["chosen"]["kernel"].rsplit("$", 2)
    d, count = "xy".index(of[-1]), int(count)
    assert body == launch["kernel"] and launch["by"] == "driver", launch
    assert f"{count} elements a thread are predicted fastest" in launch["reason"], launch
    written, chosen = (launch[what]["grid"][d] * launch[what]["block"][d] for what in ("written", "chosen"))
    assert chosen * count >= written, launch
    assert launch["predicted_ns"]["chosen"] < launch["predicted_ns"]["written"], launch
END
TRIMTAB_LOG=info ./coarsened 120000 >on.txt 2>log.txt
grep -q 'chosen box(.*) \[. elements a thread in y\], ' log.txt || fail "the log does not name a body: $(cat log.txt)"
TRIMTAB_CHOICES=choices.db ./coarsened 120000 >on.txt 2>log.txt
TRIMTAB_CHOICES=choices.db TRIMTAB_REPORT=kept.jsonl ./coarsened 120000 >kept.txt 2>log.txt
cmp on.txt kept.txt || fail "prints something else when it remembers: $(diff on.txt kept.txt)"
grep -q '"kernel":"_Z3box[^"]*y\$[238]".*chosen by an earlier process' kept.jsonl || fail "a body is not remembered across runs"

for size in 3000 6144; do
    "$build/bin/trimtab" verify --blocks all -- ./coarsened "$size" >out.txt 2>log.txt || fail "verify is not clean: $(cat out.txt log.txt)"
    ! grep -q 'DIFFER' out.txt || fail "verify finds a difference: $(cat out.txt)"
done

# A search over them, of the source and of a program.
search() { # FILE, OPTIONS...
    "$build/bin/trimtab" search "$1" --kernel product --device rtx2070super --arg n=512 --arg m=512 --arg depth=64 --json "${@:2}" \
        >search.json 2>log.txt || fail "search does not answer: $(cat search.json log.txt)"
}
search "$source/coarsened.cu" --coarsen 1,4
python3 - <<'DONE' || fail "search is not as it should be: $(cat search.json)"
import json

found = json.load(open("search.json"))
assert found["dimensions"]["elements"] == [1, 4], found["dimensions"]
assert found["best"]["values"]["elements"] == 4 and found["kernel"].endswith("[4 elements a thread in y]"), found["best"]
tried = {step["values"]["elements"] for step in found["steps"]}
assert tried == {1, 4} and any("elements" in step.get("why", "") for step in found["steps"]), found["steps"]
for step in found["steps"]:
    rows = step["grid"][1] * step["block"][1] * step["values"]["elements"]
    assert 512 <= rows < 512 + step["block"][1] * step["values"]["elements"], step
DONE
search coarsened --coarsen 3 --method exhaustive --candidates "32,4;64,2"
grep -q '"emulated": 2,' search.json || fail "search of a program tries others: $(cat search.json)"
for wrong in 0 33 x 1,; do
    ! "$build/bin/trimtab" search coarsened --kernel scale --coarsen "$wrong" 2>log.txt || fail "search takes '$wrong'"
    grep -q -- '--coarsen' log.txt || fail "search does not say what is wrong with '$wrong': $(cat log.txt)"
done
! "$build/bin/trimtab" search coarsened --kernel no_shuffle --arg n=5000 --extent 5056 --coarsen 1,3 2>log.txt || fail "search finds bodies that are not there"
grep -q 'it has bodies for 1 of the 2 numbers' log.txt || fail "search does not say that there are none: $(cat log.txt)"

# What cannot be asked for.
for wrong in 1 33 2,2 2,x '' 2,3,4,5,6; do
    ! "$build/bin/trimtab++" -O3 "$source/coarsened.cu" "--trimtab-coarsen=$wrong" -o wrong 2>build.log || fail "takes '$wrong'"
    grep -q -- '--trimtab-coarsen=' build.log || fail "does not say what is wrong with '$wrong': $(cat build.log)"
done
build_with apart.o --trimtab-coarsen=2 -fgpu-rdc -c
grep -q 'trimtab-coarsen is left out: relocatable device code' build.log || fail "does not say that it is left out: $(cat build.log)"
# Numbers may be rounded as the compiler likes, so that another body would round otherwise.
build_with fast --trimtab-coarsen=2 --trimtab-profile=off -ffast-math
"$build/bin/trimtab" inspect fast >out.txt
! grep -q '^\(scale\|product\|fused\)(.*elements a thread' out.txt || fail "there are bodies of kernels whose rounding is free"
grep -q '^steps(.*elements a thread' out.txt || fail "there are no bodies of kernels of whole numbers"
# Without optimisation.
build_with slow --trimtab-coarsen=2 -O0
TRIMTAB=off ./slow 5000 >off.txt
./slow 5000 >on.txt 2>log.txt || fail "fails without optimisation: $(cat on.txt log.txt)"
cmp off.txt on.txt || fail "prints something else without optimisation: $(diff off.txt on.txt)"
echo "more work a thread: as written and as chosen, the same"
