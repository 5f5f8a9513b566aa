#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# assembled.sh BUILD CUDA CC: cubins that ptxas makes under `trimtab run`, by nvcc and by its name, run on the emulator: they carry
# the PTX that they were made of. Others do not, and one line says so.
set -euo pipefail

build=$1
cuda=$2
cc=$3
sources=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/assembled
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_CACHE_HOME=$work/cache PATH=$cuda/bin:$PATH TRIMTAB_DEVICE=rtx2070super TRIMTAB_MODULES=wait
unset TRIMTAB TRIMTAB_LOG

fail() {
    echo "$*"
    cat log.txt out.txt 2>/dev/null || true
    exit 1
}
run() {
    timeout 250 "$build/bin/trimtab" run --report report.jsonl -- "$@" >out.txt 2>log.txt
}

"$cc" -Wno-deprecated-declarations "$sources/launches.c" -o launches -I"$cuda/include" -L"$cuda/lib64/stubs" -lcuda -ldl
nvcc -arch=sm_75 -ptx "$sources/axpy.cu" -o axpy.ptx >log.txt 2>&1 || fail "nvcc fails"

run nvcc -arch=sm_75 --cubin "$sources/axpy.cu" -o nvcc.cubin || fail "nvcc fails under trimtab run"
run ptxas -arch=sm_75 -o ptxas.cubin axpy.ptx || fail "ptxas fails"
run ptxas --gpu-name=sm_75 --output-file=long.cubin axpy.ptx || fail "ptxas fails"
for cubin in nvcc ptxas long; do
    rm -f report.jsonl
    run ./launches $cubin.cubin || fail "$cubin.cubin ends with $?"
    grep -qx PASS out.txt || fail "$cubin.cubin does not pass"
    grep -q '"by":"driver"' report.jsonl || fail "no block was chosen: $(cat report.jsonl)"
    # What others read of it is as it was.
    cmp <(cuobjdump -sass ptxas.cubin 2>/dev/null) <(cuobjdump -sass $cubin.cubin 2>/dev/null) || fail "other code"
done
# A program that nvcc links under trimtab run still runs, and so does one of relocatable code.
for rdc in false true; do
    echo 'int main() { return cudaDeviceSynchronize(); }' | cat "$sources/axpy.cu" - >program.cu
    run nvcc -arch=sm_75 -rdc=$rdc program.cu -o program || fail "nvcc -rdc=$rdc fails"
    run ./program || fail "a program of nvcc's under trimtab run ends with $?"
done

# ptxas's own mistakes stay its own.
run ptxas -arch=sm_75 -o bad.cubin <(echo 'no PTX') && fail "ptxas takes anything"
# Made elsewhere.
ptxas -arch=sm_75 -o plain.cubin axpy.ptx
run ./launches plain.cubin && fail "a cubin without PTX passes"
[[ $(grep -c "machine code alone.*load PTX" log.txt) == 1 ]] || fail "no word about the cubin"
# Cut short: nothing is read past its end.
head -c 3000 ptxas.cubin >short.cubin
run ./launches short.cubin && fail "half a cubin passes"
grep -q "short.cubin" log.txt || fail "no word about half a cubin"
echo ok
