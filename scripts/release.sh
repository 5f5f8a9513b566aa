#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Makes the files of a release. See --help.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

all_parts=(wheel deb bundle changes sbom sums)

usage() {
    cat <<END
usage: scripts/release.sh [--build DIR] [--output DIR] [--only PART,...] [--check-reproducible]

Makes, from the finished build in DIR (default: build), into the folder of --output (default: build/release):
  wheel     trimtab-VERSION-py3-none-manylinux_*.whl (scripts/build_wheel.sh; needs PyPI)
  deb       trimtab_VERSION_ARCHITECTURE.deb (cpack)
  bundle    trimtab-VERSION-gpu-bundle.tar.gz, for scripts/gpu_validate.sh (scripts/gpu_bundle.sh)
  changes   trimtab-VERSION-changes.md, the section of CHANGELOG.md
  sbom      trimtab-VERSION.spdx.json, what the three archives hold and need (SPDX 2.3; scripts/release_sbom.py);
            checked with spdx-tools, unless PyPI cannot be reached
  sums      SHA256SUMS of all of these that are there
--only makes some of them; sbom and sums then cover the files that are there already.

The same build, and the same SOURCE_DATE_EPOCH (default: the last commit's time), make the same bytes.
--check-reproducible makes each part twice from the build, compares the two, and leaves the first in the output folder.

Exit codes: 0 made (and the same twice), 1 a file differs when made again, or the SBOM is not valid, 2 usage, 3 something
is missing.
END
}

build=$root/build output=$root/build/release check=false parts=("${all_parts[@]}")
while (($# > 0)); do
    case $1 in
        --build | --output | --only)
            (($# > 1)) || usage_error "$1 needs a value"
            case $1 in
                --build) build=$(realpath -m "$2") ;;
                --output) output=$(realpath -m "$2") ;;
                --only)
                    IFS=, read -r -a wanted <<<"$2"
                    parts=()
                    for part in "${wanted[@]}"; do
                        [[ " ${all_parts[*]} " == *" $part "* ]] ||
                            usage_error "no part '$part'; there are: ${all_parts[*]}"
                    done
                    # In the order in which one needs the other.
                    for part in "${all_parts[@]}"; do
                        [[ " ${wanted[*]} " != *" $part "* ]] || parts+=("$part")
                    done
                    ;;
            esac
            shift
            ;;
        --check-reproducible) check=true ;;
        -h | --help) usage && exit 0 ;;
        *) usage_error "unknown argument '$1'" ;;
    esac
    shift
done
((${#parts[@]} > 0)) || usage_error "--only names no part"
[[ -e $build/CPackConfig.cmake && -x $build/bin/trimtab++ ]] ||
    die 3 "$build holds no finished build of Trimtab: run scripts/demo.sh, or scripts/test.sh --only build"
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 315532800)}
export LC_ALL=C.UTF-8 TZ=UTC
umask 022

work=$(mktemp -d "${TMPDIR:-/tmp}/trimtab-release-XXXXXX")
trap 'rm -rf "$work"' EXIT

# make_PART DIR: the part's file in DIR.
make_wheel() { "$root/scripts/build_wheel.sh" --build "$build" --output "$1" >/dev/null; }

make_deb() {
    rm -rf "$work/cpack"
    cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/cpack" >"$work/cpack.log" 2>&1 || {
        tail -n 5 "$work/cpack.log" >&2
        die 3 "cpack cannot make the Debian package"
    }
    cp "$work"/cpack/trimtab_*.deb "$1"
}

make_bundle() {
    "$root/scripts/gpu_bundle.sh" --build "$build" --out "$1/trimtab-$version-gpu-bundle.tar.gz" >"$work/bundle.log" || {
        tail -n 5 "$work/bundle.log" >&2
        die 3 "scripts/gpu_bundle.sh cannot make the bundle"
    }
}

# From the heading that has the version to the next of its level.
make_changes() {
    local file=$1/trimtab-$version-changes.md
    awk -v version="$version" '
        /^## / { inside = 0; for (i = 2; i <= NF; ++i) if ($i == version) inside = 1 }
        inside' "$root/CHANGELOG.md" >"$file"
    [[ -s $file ]] || { rm "$file" && die 3 "CHANGELOG.md has no section for $version"; }
    if grep -q '^## Unreleased' "$file"; then
        say "note: CHANGELOG.md still calls $version unreleased"
    fi
}

# Once for both runs of --check-reproducible: what is installed, and Python with spdx-tools.
prepare_sbom() {
    [[ ! -d $work/install ]] || return 0
    cmake --install "$build" --prefix "$work/install" --strip >"$work/install.log" || {
        tail -n 5 "$work/install.log" >&2
        die 3 "the build does not install: ninja -C $build product"
    }
    python=python3 validate=()
    if python3 -m venv "$work/venv" &&
        "$work/venv/bin/python" -m pip --disable-pip-version-check install --quiet spdx-tools==0.8.5 2>"$work/pip.log"; then
        python=$work/venv/bin/python validate=(--validate)
    else
        say "note: spdx-tools could not be installed from PyPI: the SBOM is not checked"
    fi
}

make_sbom() {
    prepare_sbom
    local llvm archives=()
    llvm=$(sed -n 's/^TRIMTAB_LLVM_PREFIX:PATH=//p' "$build/CMakeCache.txt")
    mapfile -t archives < <(find "$1" -maxdepth 1 \( -name '*.whl' -o -name '*.deb' -o -name '*.tar.gz' \) | sort)
    "$python" "$root/scripts/release_sbom.py" --output "$1/trimtab-$version.spdx.json" --program "$llvm/bin/clang-22" \
        "${validate[@]}" "$work/install" "${archives[@]}" || exit $?
}

make_sums() { (cd "$1" && rm -f SHA256SUMS && find . -maxdepth 1 -type f -printf '%P\n' | sort | xargs -r sha256sum >"$work/sums" &&
    mv "$work/sums" SHA256SUMS); }

mkdir -p "$output"
began=$SECONDS
for part in "${parts[@]}"; do
    "make_$part" "$output"
    say "$part: made, $((SECONDS - began)) s"
    began=$SECONDS
done
if $check; then
    # What is not made again is taken as it is.
    mkdir "$work/again"
    find "$output" -maxdepth 1 -type f -exec cp {} "$work/again" \;
    for part in "${parts[@]}"; do "make_$part" "$work/again"; done
    differing=()
    while read -r file; do
        if ! cmp -s "$output/$file" "$work/again/$file"; then differing+=("$file"); fi
    done < <((cd "$output" && find . -maxdepth 1 -type f -printf '%P\n'; cd "$work/again" && find . -maxdepth 1 -type f -printf '%P\n') | sort -u)
    ((${#differing[@]} == 0)) || die 1 "made again, these differ: ${differing[*]}"
    say "made again, all files are the same ($((SECONDS - began)) s)"
fi
(cd "$output" && find . -maxdepth 1 -type f -printf '%P\t%s\n' | sort |
    awk -F'\t' '{ printf "%-56s %9.1f kB\n", $1, $2 / 1000 }')
