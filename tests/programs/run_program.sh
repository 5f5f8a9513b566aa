#!/usr/bin/env bash
# run_program.sh BUILD SOURCE: builds SOURCE with BUILD/bin/trimtab++ (its second line may say "// Flags: ..." instead of -O3), then runs
# it on two devices as written (TRIMTAB=off) and as chosen: each run ends well and says PASS, and all print the same.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../built_program.sh
source "$(dirname "${BASH_SOURCE[0]}")/../built_program.sh" "$1" "$2"

build_program

for device in rtx2070super gtx1080ti; do
    for mode in off on; do
        TRIMTAB=$mode TRIMTAB_DEVICE=$device timeout 250 ./"$name" >$mode.txt 2>log.txt ||
            fail "ends with status $? on $device with TRIMTAB=$mode: $(tail -n 3 $mode.txt log.txt)"
        grep -qx PASS $mode.txt || fail "does not pass on $device with TRIMTAB=$mode: $(tail -n 3 $mode.txt log.txt)"
        [[ -f first.txt ]] || cp $mode.txt first.txt
        cmp first.txt $mode.txt || fail "prints something else on $device with TRIMTAB=$mode"
    done
done
