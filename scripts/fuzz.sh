#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Fuzzes what reads input from outside. See --help.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

all_targets=(ptx fat_binary json launch)

usage() {
    cat <<END
usage: scripts/fuzz.sh MINUTES [--only TARGET,...] [--keep]

Builds the fuzzers (build-fuzz/: clang, libFuzzer, AddressSanitizer, UndefinedBehaviorSanitizer) and shares MINUTES
between them: ${all_targets[*]}. They start from tests/fuzz/corpus/ and from what earlier runs found, which is kept in
build-fuzz/corpus/. An input that crashes, hangs for 10 s or needs 2 GiB lies in build-fuzz/found/ afterwards: fix the
cause, then add it to tests/fuzz/corpus/ (scripts/test.sh replays all of that).
--keep: writes a minimised corpus back to tests/fuzz/corpus/.
Exits 0 if nothing was found, 1 if something was, 2 on wrong usage.
END
}

minutes=
keep=false
targets=("${all_targets[@]}")
while (($# > 0)); do
    case $1 in
        --only)
            (($# > 1)) || usage_error "--only needs targets"
            IFS=, read -r -a targets <<<"$2"
            shift
            ;;
        --keep) keep=true ;;
        -h | --help) usage && exit 0 ;;
        *)
            [[ $1 =~ ^[0-9]+$ ]] || usage_error "unknown argument '$1'"
            minutes=$1
            ;;
    esac
    shift
done
[[ -n $minutes ]] || usage_error "for how many MINUTES?"
for target in "${targets[@]}"; do
    [[ " ${all_targets[*]} " == *" $target "* ]] || usage_error "no target '$target'; there are: ${all_targets[*]}"
done

cd "$root"
configure fuzz
build fuzz "${targets[@]/#/fuzz_}"
found=build-fuzz/found
mkdir -p "$found"
status=0
for target in "${targets[@]}"; do
    own=build-fuzz/corpus/$target
    mkdir -p "$own" "tests/fuzz/corpus/$target"
    options=(-max_len=16384 -timeout=10 -rss_limit_mb=2048 "-artifact_prefix=$found/$target-")
    if [[ -f tests/fuzz/$target.dict ]]; then options+=("-dict=tests/fuzz/$target.dict"); fi
    log=build-fuzz/$target.log
    # A fuzzer stops at its first finding.
    if nice -n 19 "build-fuzz/bin/fuzz_$target" "${options[@]}" "-max_total_time=$((minutes * 60 / ${#targets[@]}))" \
        "$own" "tests/fuzz/corpus/$target" >"$log" 2>&1; then
        say "$target: nothing found, $(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log") runs"
    else
        status=1
        say "$target: FOUND something ($log):"
        grep -E 'ERROR:|runtime error:|SUMMARY:|Test unit written' "$log" | head -5
    fi
    if $keep; then
        merged=$(mktemp -d)
        "build-fuzz/bin/fuzz_$target" "${options[@]}" -merge=1 "$merged" "tests/fuzz/corpus/$target" "$own" >/dev/null 2>&1
        rm -rf "tests/fuzz/corpus/$target"
        mv "$merged" "tests/fuzz/corpus/$target"
        chmod -R u=rwX,go=rX "tests/fuzz/corpus/$target"
    fi
done
exit $status
