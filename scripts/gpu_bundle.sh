#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Makes the bundle that scripts/gpu_validate.sh runs from, for machines that have a GPU and no compiler. See --help.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<END
usage: scripts/gpu_bundle.sh [--build DIR] [--out FILE] [PROGRAM...]

Packs trimtab, its libraries and those of the distribution that they need, the PolyBench samples (or those PROGRAMs, as
samples/programs.txt spells them) built by trimtab++, scripts/gpu_validate.sh and the licences into FILE (default:
trimtab-gpu-bundle.tar.gz). The same build, and the same SOURCE_DATE_EPOCH (default: the last commit's time), make the
same bytes. On a machine with a GPU, its driver and libcudart.so.13:

    tar xf trimtab-gpu-bundle.tar.gz && trimtab-gpu-bundle/gpu_validate.sh

docs/validating-on-a-gpu.md says more. Exits 1 if the bundle is larger than 60 MiB.
END
}

build_dir=$root/build
out=trimtab-gpu-bundle.tar.gz
programs=()
while (($# > 0)); do
    case $1 in
        --build | --out)
            (($# > 1)) || usage_error "$1 needs a value"
            case $1 in
                --build) build_dir=$(realpath "$2") ;;
                --out) out=$2 ;;
            esac
            shift
            ;;
        -h | --help) usage && exit 0 ;;
        -*) usage_error "unknown option '$1'" ;;
        *) programs+=("$1") ;;
    esac
    shift
done
[[ -x $build_dir/bin/trimtab++ ]] || die 3 "no $build_dir/bin/trimtab++: build Trimtab first (scripts/demo.sh does)"
if ((${#programs[@]} == 0)); then
    mapfile -t programs < <(sed 's/#.*//' "$root/samples/programs.txt" | awk '$1 ~ /^polybench\// { print $1 }')
fi

export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 315532800)}
umask 022

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bundle=$work/trimtab-gpu-bundle
mkdir -p "$bundle"/{bin,lib,libexec,samples}

"$root/scripts/build_samples.sh" --build "$build_dir" --out "$bundle/samples" "${programs[@]}" >"$work/samples.log" || {
    cat "$work/samples.log"
    die 1 "the samples do not build"
}
"$build_dir/bin/trimtab++" -O3 --trimtab-quiet "$root/bench/gpu/launch_overhead.cu" -o "$bundle/samples/launch_overhead"
cp -L "$build_dir/bin/trimtab" "$bundle/bin/"
cp -L "$build_dir/libexec/trimtab-calibrate" "$bundle/libexec/"
# The emulator without its compiler of kernels: that is LLVM.
for library in libtrimtab.so.0 libtrimtab_cudart.so libtrimtab_choices.so libtrimtab_crosscheck.so libtrimtab_gpu_counters.so \
    libtrimtab_audit.so; do
    cp -L "$build_dir/lib/$library" "$bundle/lib/"
done
ln -s libtrimtab.so.0 "$bundle/lib/libtrimtab.so"
cp "$build_dir/lib/stand-in-gpu/libstand_in_gpu_repeat.so" "$bundle/lib/libtrimtab_repeat.so"
# What they are linked to, but for the C library and the driver's own.
ldd "$bundle/bin/trimtab" "$bundle"/lib/*.so | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -Ev '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*|libcuda|libtrimtab[^/]*)\.so' | while read -r library; do
    cp -L "$library" "$bundle/lib/"
done
strip --strip-unneeded "$bundle"/bin/trimtab "$bundle"/libexec/* "$bundle"/lib/*.so* 2>/dev/null || true
cp "$root/scripts/gpu_validate.sh" "$bundle/"
sed 's/#.*//' "$root/samples/programs.txt" | awk 'NF' | while read -r program arguments; do
    [[ " ${programs[*]} " == *" $program "* ]] && printf '%s %s\n' "${program%.cu}" "$arguments"
done >"$bundle/programs.txt" || true
git -C "$root" rev-parse HEAD >"$bundle/version.txt" 2>/dev/null || echo unknown >"$bundle/version.txt"
cp "$root/LICENSE" "$root/LICENSES.md" "$bundle/"
"$root/scripts/sbom.py" --licences "$bundle" --only-licences "$bundle"
# The same build makes the same bytes: entries are sorted, and have one date and no owner.
tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -cf - trimtab-gpu-bundle |
    gzip -9n >"$out"
bytes=$(stat -c %s "$out")
printf '%s: %d.%d MiB, %d samples\n' "$out" $((bytes >> 20)) $(((bytes >> 10) % 1024 * 10 / 1024)) "${#programs[@]}"
((bytes <= 60 << 20)) || die 1 "the bundle is larger than 60 MiB"
