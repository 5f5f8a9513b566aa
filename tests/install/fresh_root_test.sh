#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# fresh_root_test.sh SOURCES BUILD: the Debian package in a root that debootstrap has just made: apt finds what it needs,
# and gemm is built, tuned and run there. CUDA's toolkit, which is no part of Debian, is this machine's, seen from inside.
# Exit 77 (left out): not root, no debootstrap, or no toolkit.
set -euo pipefail
sources=$1 build=$2
# shellcheck source=scripts/common.sh
source "$sources/scripts/common.sh"
((EUID == 0)) || { echo "left out: wants root, for debootstrap" && exit 77; }
command -v debootstrap >/dev/null || { echo "left out: there is no debootstrap" && exit 77; }
cuda=$(find_cuda) || { echo "left out: there is no CUDA toolkit" && exit 77; }
fail() { echo "FAIL: $*" >&2 && exit 1; }

work=$(mktemp -d "${TMPDIR:-/tmp}/trimtab-root-XXXXXX")
fresh=$work/root
mounted=()
clean_up() {
    local i
    for ((i = ${#mounted[@]} - 1; i >= 0; --i)); do umount "${mounted[i]}" || return 1; done
    rm -rf --one-file-system "$work"
}
trap clean_up EXIT

cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/package" >"$work/cpack.log" || fail "$(tail -n 5 "$work/cpack.log")"
package=$(echo "$work"/package/trimtab_*.deb)
mirror=http://deb.debian.org/debian
debootstrap --variant=minbase --include=ca-certificates bookworm "$fresh" "$mirror" >"$work/debootstrap.log" ||
    fail "$(tail -n 5 "$work/debootstrap.log")"
# (clang 22 came to Debian 12 by its security archive.)
cat >"$fresh/etc/apt/sources.list" <<END
deb $mirror bookworm main
deb http://deb.debian.org/debian-security bookworm-security main
END
cp "$package" "$fresh/trimtab.deb"
cp /etc/ssl/certs/ca-certificates.crt "$fresh/etc/ssl/certs/"
cp -r "$sources/samples" "$fresh/samples"
mkdir -p "$fresh/usr/local/cuda"
mount --bind -o ro "$(realpath "$cuda")" "$fresh/usr/local/cuda" && mounted+=("$fresh/usr/local/cuda")
mount -t proc proc "$fresh/proc" && mounted+=("$fresh/proc")
inside() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        chroot "$fresh" bash -c "$1"
}
size_mb() { du -sm --exclude "$fresh/usr/local/cuda" --exclude "$fresh/proc" "$fresh" | cut -f1; }
before=$(size_mb)
inside 'apt-get -q update && apt-get -q install -y --no-install-recommends /trimtab.deb && apt-get clean' \
    >"$work/apt.log" 2>&1 || fail "$(tail -n 15 "$work/apt.log")"
after=$(size_mb)
inside 'trimtab++ --version' >"$work/version" || fail "trimtab++ --version"
grep -q '^trimtab++ (Trimtab)' "$work/version" || fail "$(cat "$work/version")"
inside 'trimtab doctor --quick' || fail "trimtab doctor finds something missing"
inside 'cd /root && trimtab++ -O3 /samples/polybench/gemm.cu -o gemm' >"$work/build.log" 2>&1 || fail "$(cat "$work/build.log")"
inside 'cd /root && TRIMTAB_LOG=info ./gemm 256' >"$work/gemm.out" 2>&1 || fail "$(cat "$work/gemm.out")"
grep -q '^PASS$' "$work/gemm.out" || fail "gemm: $(cat "$work/gemm.out")"
grep -q 'by driver: predicted fastest' "$work/gemm.out" || fail "gemm is not tuned: $(cat "$work/gemm.out")"
inside 'apt-get -q remove -y trimtab && ! ls -d /usr/bin/trimtab* /usr/lib/*/libtrimtab* 2>/dev/null' >"$work/remove.log" ||
    fail "something is left: $(tail -n 5 "$work/remove.log")"
echo "package: $(du -h --apparent-size "$package" | cut -f1); installed with all that it needs: $((after - before)) MB in a root of $before MB"
