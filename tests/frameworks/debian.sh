#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# debian.sh BUILD NAME: programs of Debian's packages, which check themselves, on the OpenCL platform; unpacked beside the build.
# Without the archive (or what they are linked with) they are skipped, with a word: exit 77.
set -euo pipefail
build=$(realpath "$1")
name=$2
work=$build/tests/frameworks/$name
mkdir -p "$work"
cd "$work"
export XDG_CACHE_HOME=$work/cache TRIMTAB_MODULES=wait
unset TRIMTAB TRIMTAB_DEVICE TRIMTAB_LOG

case $name in
    clblast) # compares with the CPU's BLAS
        packages="libclblast1 clblast-tests"
        programs=("clblast_test_xaxpy" "clblast_test_xamax" "clblast_test_xger" "clblast_test_xgemv")
        ;;
    clfft) # compares with the known transform of its input
        packages="libclfft2 clfft-client libboost-program-options1.74.0"
        programs=("clFFT-client -x 64" "clFFT-client -x 96 -y 60" "clFFT-client -x 128 -o --double" "clFFT-client -x 16 -y 32 -z 15")
        ;;
esac
if [[ ! -d root ]]; then
    # shellcheck disable=SC2086 # words of a list
    if ! apt-get download $packages >download.txt 2>&1; then
        echo "skipped: the packages are not to be had: $(tail -n 1 download.txt)"
        exit 77
    fi
    for package in ./*.deb; do dpkg-deb -x "$package" unpacked; done
    mv unpacked root
fi
libraries=root/usr/lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH 2>/dev/null || echo x86_64-linux-gnu)
export LD_LIBRARY_PATH=$work/$libraries
if missing=$(ldd "root/usr/bin/${programs[0]%% *}" | grep "not found"); then
    echo "skipped: $missing"
    exit 77
fi

rm -f report.jsonl
for program in "${programs[@]}"; do
    # shellcheck disable=SC2086 # words of a command
    "$build/bin/trimtab" run --device rtx2070super --report report.jsonl -- root/usr/bin/$program >out.txt 2>err.txt || {
        echo "$program ends with $?: $(tail -n 15 err.txt)"
        exit 1
    }
    # Of each routine and precision, how many failed; or one word in all.
    if grep -E "[1-9][0-9]* test\(s\) failed|FAIL" out.txt || ! grep -qE " 0 test\(s\) failed|PASS" out.txt; then
        echo "$program: $(tail -n 15 out.txt)"
        exit 1
    fi
done
[[ -s report.jsonl ]] || {
    echo "$name: nothing was launched"
    exit 1
}
echo "$name: $(wc -l <report.jsonl) launches"
echo PASS
