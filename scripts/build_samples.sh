#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the sample programs with trimtab++. See --help.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<END
usage: scripts/build_samples.sh [--build DIR] [--out DIR] [--json FILE] [PROGRAM...] [-- TRIMTAB++ ARGUMENTS...]

Builds the programs of samples/programs.txt (or those named, as the list spells them) with DIR/bin/trimtab++
into DIR/samples/, and prints the seconds that each took, and all together. What follows -- is handed to
trimtab++ (--trimtab-profile=off, say). Exits 0 if all were built, 1 if not; a failed build's output is shown.

  --build DIR   the build to use (default: build)
  --out DIR     where the programs go (default: samples/ in the build)
  --json FILE   also write {"programs": [{"program", "seconds", "ok"}...], "seconds"} there

TRIMTAB_JOBS sets how many are built at once (default 1, so that the seconds mean something).
END
}

build_dir=$root/build
out=""
json=""
wanted=()
extra=()
while (($# > 0)); do
    case $1 in
        --build | --out | --json)
            (($# > 1)) || usage_error "$1 needs a value"
            case $1 in
                --build) build_dir=$2 ;;
                --out) out=$2 ;;
                --json) json=$2 ;;
            esac
            shift
            ;;
        --)
            shift
            extra=("$@")
            break
            ;;
        -h | --help) usage && exit 0 ;;
        -*) usage_error "unknown option '$1'" ;;
        *) wanted+=("$1") ;;
    esac
    shift
done
out=${out:-$build_dir/samples}
compiler=$build_dir/bin/trimtab++
list=$root/samples/programs.txt
[[ -x $compiler ]] || die 3 "no $compiler: build Trimtab first (scripts/demo.sh does)"
[[ -r $list ]] || die 3 "no $list"

# A line is a program's path under samples/; what follows it on the line is for those who run it.
mapfile -t programs < <(sed 's/#.*//' "$list" | awk 'NF { print $1 }')
((${#programs[@]} > 0)) || die 3 "$list names no program"
for program in "${wanted[@]}"; do
    [[ " ${programs[*]} " == *" $program "* ]] || die 3 "$list names no '$program'"
done
((${#wanted[@]} == 0)) || programs=("${wanted[@]}")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# build_one INDEX: writes INDEX.line ("seconds ok") and INDEX.log.
build_one() {
    local program=${programs[$1]} began ended ok=true
    local source=$root/samples/$program binary
    binary=$out/${program%.cu}
    mkdir -p "$(dirname "$binary")"
    began=$(date +%s%N)
    "$compiler" -O3 "$source" -o "$binary" "${extra[@]}" >"$work/$1.log" 2>&1 || ok=false
    ended=$(date +%s%N)
    printf '%s %s\n' "$(awk -v n=$((ended - began)) 'BEGIN { printf "%.2f", n / 1e9 }')" "$ok" >"$work/$1.line"
}

began=$(date +%s%N)
running=0
for index in "${!programs[@]}"; do
    build_one "$index" &
    running=$((running + 1))
    if ((running >= ${TRIMTAB_JOBS:-1})); then
        wait -n
        running=$((running - 1))
    fi
done
wait
total=$(awk -v n=$(($(date +%s%N) - began)) 'BEGIN { printf "%.2f", n / 1e9 }')

failures=0
rows=""
for index in "${!programs[@]}"; do
    read -r seconds ok <"$work/$index.line"
    printf '%8s s  %s\n' "$seconds" "${programs[$index]}"
    if [[ $ok == false ]]; then
        failures=$((failures + 1))
        sed 's/^/    /' "$work/$index.log"
    fi
    rows+="${rows:+,}{\"program\":\"${programs[$index]}\",\"seconds\":$seconds,\"ok\":$ok}"
done
printf '%8s s  all %d\n' "$total" "${#programs[@]}"
[[ -z $json ]] || printf '{"programs":[%s],"seconds":%s}\n' "$rows" "$total" >"$json"
((failures == 0)) || die 1 "$failures of ${#programs[@]} failed"
