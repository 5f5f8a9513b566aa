#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# counters.sh BUILD SOURCE: `trimtab profile --device gpu` on a stand-in GPU (gpu.h) whose counters a library in CUPTI's place
# tells: they go before the emulator's in the profile, which says so; where there are none, one line says why.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=../built_program.sh
source "$(dirname "${BASH_SOURCE[0]}")/../built_program.sh" "$1" "$2/tests/tools/profile/rows.cu"
trimtab=$build/bin/trimtab
gpu=$build/lib/stand-in-gpu
build_as -O3

profile() {
    env LD_LIBRARY_PATH="$gpu/cupti:$gpu" STAND_IN_GPU=rtx2070super STAND_IN_GPU_EMULATOR="$build/lib/libtrimtab_cudart.so" \
        "$@" >profiled.json 2>log.txt
}
rm -f calls.txt
profile STAND_IN_CUPTI_LOG=calls.txt "$trimtab" profile --device gpu --blocks 6 --counters counted.jsonl --json -- ./rows || fail "profile: $(cat log.txt)"
# What the program prints: once as its own, and once more of the run beside it.
(($(grep -cx PASS log.txt) == 2)) || fail "the program does not see its own results: $(cat log.txt)"
python3 - <<'PYTHON' || fail "profile says: $(cat profiled.json) $(cat log.txt)"
import json
kernels = {k["demangled"].split("(")[0]: k for k in json.load(open("profiled.json"))["kernels"]}
rows = kernels["multiply_rows"]
assert rows["counters"]["chip"] == "TU106" and rows["counters"]["launches"] >= 6, rows
metrics = {one["metric"]: one for one in rows["counters"]["metrics"]}
# The n-th counter is 100 n and the three passes: instructions, lanes, then requests and sectors of loads and stores, of
# atomics and of reductions. (atomics + reductions) over the same active warps as the loads.
assert set(metrics) == {"load_requests", "load_sectors", "store_requests", "store_sectors", "atomic_requests", "active_lanes"}, metrics
load = metrics["load_requests"]["gpu_mean"]
for name, of_load in (("load_sectors", 403 / 303), ("store_requests", 503 / 303), ("store_sectors", (603 + 803 + 1003) / 303),
                      ("atomic_requests", (703 + 903) / 303)):
    assert abs(metrics[name]["gpu_mean"] / load - of_load) < 1e-9, (name, metrics[name], load)
assert abs(metrics["active_lanes"]["gpu_mean"] - 203 / 103) < 1e-9, metrics["active_lanes"]
assert metrics["active_lanes"]["emulator_mean"] > 10 and metrics["active_lanes"]["mean_difference"] > 0.5, metrics
PYTHON
# Advice of the same counters: nothing was timed, and bytes that lanes ask for were not counted.
"$trimtab" advise --counters counted.jsonl --device rtx2070super --json ./rows >advice.json || fail "advise: $(cat advice.json)"
python3 - <<'PYTHON' || fail "advise says: $(cat advice.json)"
import json
rows = {k["kernel"].split("(")[0]: k for k in json.load(open("advice.json"))["kernels"]}["multiply_rows"]
measured = rows["measured"]
assert not measured["is_timed"] and not measured["is_labelled"] and measured["model_ns"] > 0, measured
memory = {name: one["value"] for name, one in measured["counters"]["Memory Workload Analysis"].items()}
assert abs(memory["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] / memory["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] - 403 / 303) < 1e-9, memory
assert {"uncoalesced-load", "small-launches"} <= set(measured["rules_that_lack_counters"]), measured
assert "smsp__sass_data_bytes_mem_global_op_ld.sum" in measured["lacking_metrics"], measured
assert "launch__registers_per_thread" not in measured["lacking_metrics"] and rows["source"], rows
PYTHON
# In order, and every session that is begun is ended.
[[ $(head -n 4 calls.txt | xargs) == "initialize chip availability availability" ]] || fail "CUPTI is not begun in order: $(head calls.txt)"
(($(grep -cx enable calls.txt) == $(grep -cx disable calls.txt))) || fail "a session is left open"
(($(grep -cx start calls.txt) == 3 * $(grep -cx decode calls.txt))) || fail "a launch is not made for each pass"

# Forbidden, unknown, absent: one line, and exit 1.
refused() {
    local text=$1 status=0
    shift
    profile "$@" "$trimtab" profile --device gpu --blocks 2 --quiet -- ./rows || status=$?
    ((status == 1)) || fail "$*: exit $status: $(cat log.txt)"
    grep -q "not counted: .*$text" log.txt || fail "$*: does not say \"$text\": $(cat log.txt)"
    grep -qx PASS profiled.json || fail "$*: the program does not run as it is"
}
refused "NVreg_RestrictProfilingToAdminUsers=0" STAND_IN_CUPTI_FAILING=enable STAND_IN_CUPTI_ERROR=35
refused "the chip ZZ999" STAND_IN_CUPTI_CHIP=ZZ999
refused "a pass" STAND_IN_CUPTI_FAILING=pop STAND_IN_CUPTI_ERROR=999
echo PASS
