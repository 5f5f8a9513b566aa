#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds Trimtab and shows it at work on one program. See --help.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<END
usage: scripts/demo.sh [--no-setup] [N]

Sets the machine up (scripts/setup.sh), builds Trimtab in build/, compiles samples/polybench/gemm.cu with
build/bin/trimtab++, runs it on N x N matrices (default 256; on the emulator where there is no GPU), and
shows what Trimtab found out about its kernel.

  --no-setup   the machine is set up already
END
}

setup=true
size=256
for argument in "$@"; do
    case $argument in
        --no-setup) setup=false ;;
        -h | --help) usage && exit 0 ;;
        [1-9]*) [[ $argument =~ ^[0-9]+$ ]] || usage_error "N must be a whole number, not '$argument'" && size=$argument ;;
        *) usage_error "unknown argument '$argument'" ;;
    esac
done

step() {
    printf '\n$ %s\n' "$*"
    "$@"
}

cd "$root"
if $setup; then scripts/setup.sh; fi
if [[ ! -f build/build.ninja ]]; then
    # Tests and benchmarks need packages that only developers install.
    parts=()
    scripts/setup.sh --developer --check >/dev/null 2>&1 ||
        parts=(-DTRIMTAB_TESTS=OFF -DTRIMTAB_BENCHMARKS=OFF)
    configure default -DTRIMTAB_UNITY=ON "${parts[@]}"
fi
say "building Trimtab in build/ (minutes, the first time)"
build default product
mkdir -p build/demo

step build/bin/trimtab++ -O3 samples/polybench/gemm.cu -o build/demo/gemm
step env TRIMTAB_LOG=info build/demo/gemm "$size"
step build/bin/trimtab inspect build/demo/gemm
