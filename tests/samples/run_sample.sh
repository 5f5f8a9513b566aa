#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run_sample.sh BUILD SOURCE ARGUMENTS...: builds SOURCE with BUILD/bin/trimtab++, runs it as written (TRIMTAB=off) and as chosen, and
# holds the two against each other: both PASS, equal output bytes, one log line and one report line a launch.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../built_program.sh
source "$(dirname "${BASH_SOURCE[0]}")/../built_program.sh" "$1" "$2"
shift 2

build_program
# Kernels that made-up numbers give nothing to measure: a walk along parents that never ends, and a hash that stays above a
# made-up bound. Of these, and of no others, there is a warning.
case $name in
    graph_analytics) unmeasured='jump(int*, int const*, int)' ;;
    spiking_network) unmeasured='poisson_input(int*, int, int, unsigned int, Constants)' ;;
    *) unmeasured= ;;
esac
[[ -z $unmeasured ]] || grep -qF "$unmeasured keeps its block: " build.log || fail "does not warn of $unmeasured"
if grep 'warning' build.log | grep -qvF "${unmeasured:-?} keeps its block: "; then fail "warns while it builds: $(cat build.log)"; fi

TRIMTAB=off ./"$name" "$@" --dump off.bin >off.txt
grep -qx PASS off.txt || fail "fails as written"

for device in rtx2070super c2075; do
    rm -f report.jsonl
    TRIMTAB_DEVICE=$device TRIMTAB_LOG=info TRIMTAB_REPORT=report.jsonl ./"$name" "$@" --dump on.bin >on.txt 2>log.txt
    grep -qx PASS on.txt || fail "fails as chosen on $device: $(tail -n 3 on.txt log.txt)"
    cmp off.bin on.bin || fail "its output on $device differs from the launch as written"
    launches=$(wc -l <report.jsonl)
    ((launches > 0)) || fail "no launch is reported on $device"
    (($(grep -c 'written .* blocks of .*' log.txt) == launches)) || fail "the log on $device has not one line a launch"
    # Blocks that are chosen come with the predictions of both; blocks that are left alone, with the reason.
    python3 - "$device" <<'END' || fail "the report on $device is not as documented"
import json
import sys

for line in open("report.jsonl"):
    launch = json.loads(line)
    assert launch["device"] == sys.argv[1], launch
    if launch["by"] == "unchanged":
        assert launch["chosen"] == launch["written"] and launch["reason"], launch
    else:
        predicted = launch["predicted_ns"]
        assert 0 < predicted["chosen"] <= predicted["written"], launch
        for way in ("written", "chosen"):
            assert len(launch[way]["grid"]) == 3 and len(launch[way]["block"]) == 3, launch
END
done

verdict=$("$build/bin/trimtab" inspect "$name")
case $name in
    tiled_matmul | block_reduction | fused_stencil)
        grep -q 'verdict *fixed' <<<"$verdict" || fail "is not left alone"
        grep -q 'shared memory' <<<"$verdict" || fail "is left alone without the reason"
        if grep -qv '"by":"unchanged"' report.jsonl; then fail "is re-blocked"; fi
        ;;
    *)
        grep -q 'footprint_sectors = ' <<<"$verdict" || fail "inspect shows no fits"
        driver=$("$build/bin/trimtab" inspect "$name" --driver)
        grep -q 'trimtab_driver trimtab_driver_' <<<"$driver" || fail "inspect shows no driver program"
        ;;
esac
echo "$name: as written and as chosen, the same bytes"
