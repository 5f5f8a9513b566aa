#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# profile.sh BUILD CLANG CUDA: once `trimtab profile` has seen the program's own launches of a kernel whose work is in its arrays, a
# build takes their profile in the place of the planned one, and its driver program is asked.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../../built_program.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../built_program.sh" "$1" "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/rows.cu"
trimtab=$build/bin/trimtab
clang=$2
cuda=$3

build_as -O3
mv rows before
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

build_as -O3
mv rows after
"$trimtab" inspect after --kernel multiply_rows >inspected.txt
grep 'profile.*points by program' inspected.txt >/dev/null || fail "inspect does not say whose profile it is: $(cat inspected.txt)"
"$trimtab" inspect after --kernel double_all | grep 'profile.*points by emulator' >/dev/null || fail "double_all lost its profile"
TRIMTAB_DEVICE=rtx2070super TRIMTAB_LOG=info ./after >out.txt 2>log.txt
grep -qx PASS out.txt || fail "the rebuilt program fails: $(cat out.txt)"
grep 'multiply_rows.*by driver' log.txt >/dev/null || fail "its driver program is not asked: $(cat log.txt)"

# Another size beside it, from a second run: both are known.
"$trimtab" profile --device rtx2070super --json -- ./before 9000 >more.json 2>log.txt || fail "a second profile: $(cat log.txt)"
python3 -c '
import json
points = [next(k["points"] for k in json.load(open(name))["kernels"] if "multiply_rows" in k["kernel"]) for name in ("profiled.json", "more.json")]
assert points[1] > 1.5 * points[0], points' || fail "a second run's points do not join the first's: $(cat more.json)"
# Another compiler's program, whose driver programs are prepared: without the profile, they go; then they have it.
"$clang" -x cuda "--cuda-path=$cuda" --cuda-gpu-arch=sm_75 --cuda-include-ptx=all -O3 -fPIC -Wno-unknown-cuda-version \
    -c "$source" -o plain.o
"$clang" plain.o -o plain "$build/lib/libtrimtab.so" "-Wl,-rpath,$build/lib"
"$trimtab" prepare --quiet ./plain
prepared=$(find "$XDG_CACHE_HOME/trimtab/modules" -name '*.so')
[[ -f $prepared ]] || fail "it is not one module that is prepared: $prepared"
"$trimtab" profile --device rtx2070super -- ./plain >out.txt 2>log.txt || fail "profile of another compiler's program: $(cat log.txt)"
grep -q 'multiply_rows.*its prepared module is made again' out.txt || fail "its prepared module is not told: $(cat out.txt)"
! grep -q 'double_all.*made again' out.txt || fail "a profile that is not kept changes what is prepared: $(cat out.txt)"
[[ ! -e $prepared ]] || fail "a library that was prepared without the profile stays"
"$trimtab" prepare --quiet ./plain
"$trimtab" inspect "$prepared" --kernel multiply_rows >inspected.txt
grep 'profile.*points by program' inspected.txt >/dev/null || fail "what is prepared has another's profile: $(cat inspected.txt)"
status=0
"$trimtab" profile --device gpu,k20c -- ./before 2>log.txt || status=$?
((status == 2)) || fail "several devices are taken: $status"
# A GPU that is not there: the program fails as it would without Trimtab, and nothing waits.
if [[ ! -e /dev/nvidiactl ]]; then
    status=0
    timeout 120 "$trimtab" profile --device gpu -- ./before >out.txt 2>log.txt || status=$?
    ((status == 3)) || fail "a GPU that is not there: exit $status: $(cat log.txt)"
    grep -q "finds no GPU" log.txt || fail "does not say that there is no GPU: $(cat log.txt)"
fi
echo "the program's own launches are profiled, and builds take what they say"
