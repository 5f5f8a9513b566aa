#!/usr/bin/env bash
# profile.sh BUILD: a kernel whose work is in its arrays is uncertain after a build; once `trimtab profile` has seen the
# program's own launches, a build takes their profile, and the driver program decides for such launches.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../../built_program.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../built_program.sh" "$1" "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/rows.cu"
trimtab=$build/bin/trimtab

# uncertain BINARY N: what select says of multiply_rows.
uncertain() {
    "$trimtab" select "$1" --kernel multiply_rows --device rtx2070super --arg n="$2" --json |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["uncertain"])'
}

build_program
mv rows before
[[ $(uncertain before 3000) == True ]] || fail "the planned profile does for it: it is no test"
TRIMTAB_DEVICE=rtx2070super TRIMTAB_LOG=info ./before 2>log.txt >out.txt
grep 'multiply_rows.*unchanged' log.txt >/dev/null || grep 'multiply_rows.*uncertain\|multiply_rows.*contents' log.txt >/dev/null ||
    fail "it is decided for before its data was seen: $(cat log.txt)"

"$trimtab" profile --device rtx2070super --json -- ./before >profiled.json 2>log.txt || fail "profile: $(cat log.txt)"
grep -qx PASS log.txt || fail "the program does not see its own results under profile: $(cat log.txt)"
python3 - <<'PYTHON' || fail "profile says: $(cat profiled.json)"
import json
kernels = {k["demangled"].split("(")[0]: k for k in json.load(open("profiled.json"))["kernels"]}
rows, doubled = kernels["multiply_rows"], kernels["double_all"]
assert rows["kept"] and "contents of arrays" in rows["planned"] and rows["points"] >= 24, rows
# Nothing is wrong with this one's planned profile, which speaks for every size.
assert not doubled["kept"] and doubled["planned"] is None and doubled["points"] >= 24, doubled
PYTHON

build_program
mv rows after
[[ $(uncertain after 3000) == False ]] || fail "the program's own launches are not taken"
"$trimtab" inspect after --kernel multiply_rows >inspected.txt
grep 'profile.*points by program' inspected.txt >/dev/null || fail "inspect does not say whose profile it is: $(cat inspected.txt)"
"$trimtab" inspect after --kernel double_all | grep 'profile.*points by emulator' >/dev/null || fail "double_all lost its profile"
# Of other sizes it was not seen at, nothing is claimed.
[[ $(uncertain after 9000) == True ]] || fail "a size that no launch had is taken for known"
TRIMTAB_DEVICE=rtx2070super TRIMTAB_LOG=info ./after >out.txt 2>log.txt
grep -qx PASS out.txt || fail "the rebuilt program fails: $(cat out.txt)"
grep 'multiply_rows.*by driver' log.txt >/dev/null || fail "its driver program is not asked: $(cat log.txt)"

# What the launch did, and what is predicted of it.
"$trimtab" predict after --kernel multiply_rows --device rtx2070super --arg n=3000 --grid 3 --block 1024 --json >predicted.json ||
    fail "predict"

# Another size beside it, from a second run: both are known.
"$trimtab" profile --device rtx2070super -- ./before 9000 >more.txt 2>log.txt || fail "a second profile: $(cat log.txt)"
build_program
for n in 3000 9000; do
    [[ $(uncertain rows $n) == False ]] || fail "$n is not known after two runs"
done
status=0
"$trimtab" profile --device gpu -- ./before 2>log.txt || status=$?
((status == 2)) || fail "a GPU is taken: $status"
echo "the program's own launches are profiled, and builds take what they say"
