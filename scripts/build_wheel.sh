#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the Python wheel out of a build. See --help.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<END
usage: scripts/build_wheel.sh [--build DIR] [--output DIR]

Makes trimtab-VERSION-py3-none-manylinux_*.whl: the tools, libraries and headers of the build in DIR (default: build),
clang 22 with the libraries of LLVM, and all shared libraries that a machine may lack, their licences and a list of
them (CycloneDX, in the wheel's .dist-info/sboms). The same build, and the same SOURCE_DATE_EPOCH (default: the last
commit's time), make the same bytes. Needs PyPI, for what it builds with (python/build-requirements.txt).
END
}

build=$root/build output=$root/build/wheel
while (($# > 0)); do
    case $1 in
        --build) build=$(realpath "$2") && shift ;;
        --output) output=$(realpath -m "$2") && shift ;;
        -h | --help) usage && exit 0 ;;
        *) usage_error "unknown argument '$1'" ;;
    esac
    shift
done
[[ -e $build/cmake_install.cmake ]] || die 3 "$build is no build of Trimtab"
llvm=$(sed -n 's/^TRIMTAB_LLVM_PREFIX:PATH=//p' "$build/CMakeCache.txt")
[[ -x $llvm/bin/clang-22 ]] || die 3 "there is no clang 22 in $llvm"
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 315532800)}
umask 022

work=$(mktemp -d "${TMPDIR:-/tmp}/trimtab-wheel-XXXXXX")
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
python=$work/venv/bin/python
"$python" -m pip --disable-pip-version-check install --quiet -r "$root/python/build-requirements.txt" ||
    die 3 "what the wheel is built with could not be installed from PyPI"
PATH=$work/venv/bin:$PATH

tree=$work/python
cp -r "$root/python" "$tree"
cp "$root/LICENSE" "$root/AUTHORS" "$tree"
find "$tree" -name __pycache__ -prune -exec rm -rf {} +
sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt" >"$tree/version.txt"
prefix=$tree/trimtab/prefix
cmake --install "$build" --prefix "$work/install" --strip >"$work/install.log" || {
    tail -n 5 "$work/install.log" >&2
    die 3 "the build does not install: ninja -C $build product"
}
mkdir -p "$prefix/llvm/bin" "$prefix/llvm/lib/clang"
# A wheel has no links: each name is a file. (Libraries are small but for LLVM's, which auditwheel adds once.)
cp -rL "$work/install/bin" "$work/install/include" "$prefix"
libraries=$(sed -n "s/^CMAKE_INSTALL_LIBDIR:PATH=//p" "$build/CMakeCache.txt")
cp -rL "$work/install/$libraries" "$prefix/lib"
[[ ! -d $work/install/libexec ]] || cp -rL "$work/install/libexec" "$prefix"
mkdir -p "$prefix/share/doc"
cp -rL "$work/install/share/doc/trimtab/licences" "$work/install/share/doc/trimtab/LICENSES.md" "$prefix/share/doc"
for name in clang clang++; do cp -L "$llvm/bin/clang-22" "$prefix/llvm/bin/$name"; done
cp -rL "$llvm/lib/clang/22" "$prefix/llvm/lib/clang/22"
# Of clang's runtime libraries, none is used: builtins are GCC's.
rm -rf "$prefix/llvm/lib/clang/22/lib" "$prefix/llvm/lib/clang/22/share" "$prefix/lib/cmake" "$prefix/lib/pkgconfig"

"$python" "$root/scripts/sbom.py" --licences "$prefix/share/doc" --output "$work/trimtab.cdx.json" "$prefix"
mkdir -p "$work/linux" "$output"
(cd "$tree" && "$python" -m hatchling build -t wheel -d "$work/linux") >"$work/build.log" 2>&1 || {
    tail -n 20 "$work/build.log" >&2
    die 3 "the wheel could not be built"
}
glibc=$(ldd --version | sed -n '1s/.* //p')
auditwheel repair --plat "manylinux_${glibc/./_}_$(uname -m)" --wheel-dir "$work/many" "$work"/linux/*.whl \
    >"$work/repair.log" 2>&1 || {
    tail -n 20 "$work/repair.log" >&2
    die 3 "the libraries that the wheel needs could not be added to it"
}
"$python" "$root/scripts/sbom.py" --into-wheel "$work"/many/*.whl --sbom "$work/trimtab.cdx.json"
rm -f "$output"/trimtab-*.whl
cp "$work"/many/*.whl "$output"
say "$(cd "$output" && du -h --apparent-size trimtab-*.whl | tr '\t' ' ')"
