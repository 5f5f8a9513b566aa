#!/usr/bin/env bash
# run_program.sh BUILD SOURCE: builds SOURCE with BUILD/bin/trimtab++ (its second line may say "// Flags: ..." instead of -O3), then runs
# it on two devices as written (TRIMTAB=off) and as chosen: each run ends well and says PASS, and all print the same.
set -euo pipefail

build=$1
source=$2
name=$(basename "$source" .cu)
work=$build/tests/programs/$name
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
cd "$work"

fail() {
    echo "$name: $*"
    exit 1
}

flags=$(sed -n '2s,^// Flags: ,,p' "$source")
# shellcheck disable=SC2086 # several flags
"$build/bin/trimtab++" ${flags:--O3} "$source" -o "$name" 2>build.log || fail "does not build: $(cat build.log)"

for device in rtx2070super gtx1080ti; do
    for mode in off on; do
        TRIMTAB=$mode TRIMTAB_DEVICE=$device timeout 60 ./"$name" >$mode.txt 2>log.txt ||
            fail "ends with status $? on $device with TRIMTAB=$mode: $(tail -n 3 $mode.txt log.txt)"
        grep -qx PASS $mode.txt || fail "does not pass on $device with TRIMTAB=$mode: $(tail -n 3 $mode.txt log.txt)"
        [[ -f first.txt ]] || cp $mode.txt first.txt
        cmp first.txt $mode.txt || fail "prints something else on $device with TRIMTAB=$mode"
    done
done
