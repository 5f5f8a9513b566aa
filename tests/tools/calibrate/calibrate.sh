#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# calibrate.sh BUILD DEVICE...: on the emulator, trimtab calibrate measures back what the device's description holds, within
# 3 %, from event times and clock64 alone; and a device that nobody has described gets a description that can be used.
set -euo pipefail

build=$1
shift
work=$build/tests/tools/calibrate/$1
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
cd "$work"

fail() {
    echo "calibrate: $*"
    exit 1
}

check='
import json, sys
found = json.load(open(sys.argv[1]))
described = json.load(open(sys.argv[2]))["values"]
# The emulator does not go by the departure delays, which the published models alone read.
unused = {"departure_delay_coalesced_cycles", "departure_delay_uncoalesced_cycles"}
names = set()
for one in found["measurements"]:
    name = one["name"]
    if name not in described or name in unused:
        continue
    names.add(name)
    expected = described[name]["value"]
    value = one["value"]
    error = value / expected - 1
    print(f"{name:36} {expected:14.6g} {value:14.6g} {100 * error:+7.2f} %")
    assert abs(error) < 0.03, name
must = {"sm_clock_hz", "latency_fp32_cycles", "latency_shared_cycles", "latency_l1_cycles", "latency_l2_cycles",
        "latency_dram_cycles", "fp32_lanes_per_sm", "fp64_lanes_per_sm", "int32_lanes_per_sm",
        "special_function_lanes_per_sm", "load_store_units_per_sm", "shared_bytes_per_clock", "dram_bytes_per_s",
        "launch_overhead_ns", "pcie_bytes_per_s"}
assert must <= names, must - names
assert found["emulated"]
for field in must:
    assert found["device"]["values"][field]["source"].startswith("measured: trimtab calibrate on the emulator"), field
'

for device in "$@"; do
    "$build/bin/trimtab" calibrate --device "$device" --quiet --json -o "$device.json" >found.json 2>log.txt ||
        fail "$device: $(cat log.txt)"
    echo "$device"
    python3 -c "$check" found.json "$build/../core/model/devices/$device.json" || fail "$device: $(cat log.txt)"
    # The description that comes of it can be named where a device can.
    "$build/bin/trimtab" devices "$device.json" >described.txt || fail "$device.json cannot be used"
    grep -q 'measured: trimtab calibrate' described.txt || fail "$device.json does not say where its values are from"
done
