#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# static_libraries.sh BUILD CUDA CC: libraries that hold CUDA's runtime, as nvcc links them, under `trimtab run` with no GPU: linked,
# opened while the program runs, and stripped of the symbols that the runtime is found by; or no runtime that is known.
set -euo pipefail

build=$1
cuda=$2
cc=$3
sources=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/static_libraries
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export XDG_CACHE_HOME=$work/cache PATH=$cuda/bin:$PATH

fail() {
    echo "$*"
    cat log.txt out.txt 2>/dev/null || true
    exit 1
}

run() {
    timeout 120 "$build/bin/trimtab" run --device h100 --report report.jsonl -- "$@" >out.txt 2>log.txt
}

# passes TIMES WORDS...: the library's work is done so often, on the device that was asked for.
passes() {
    local times=$1
    shift
    rm -f report.jsonl
    run "$@" || fail "$* ends with status $?"
    [[ $(grep -c "^PASS on NVIDIA H100" out.txt) == "$times" ]] || fail "$* does not pass $times times on an H100"
    [[ ! -s log.txt ]] || fail "$* has something to say"
}

nvcc -arch=sm_75 -shared -Xcompiler -fPIC "$sources/library.cu" -o libwork.so >log.txt 2>&1 || fail "nvcc fails"
nvcc -arch=sm_75 "$sources/links.cu" -o links -L. -lwork -Xlinker -rpath="$work" >log.txt 2>&1 || fail "nvcc fails"
"$cc" "$sources/opens.c" -o opens -ldl
"$cc" -x c - -o plain -L. -lwork -Wl,-rpath,"$work" <<<'int work(int); int main(void) { return work(1000); }'

export TRIMTAB_MODULES=off # nothing goes on after the end
passes 2 ./links
passes 1 ./plain
passes 2 ./opens ./libwork.so
if command -v python3 >/dev/null; then
    passes 1 python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL("./libwork.so").work(1000))'
fi
# Chosen as any launch of a program of nvcc's is.
TRIMTAB_MODULES='wait' passes 2 ./opens ./libwork.so
grep -q '"by":"driver"' report.jsonl || fail "no block was chosen: $(cat report.jsonl)"

# Programs that have nothing to do with CUDA are as they were.
run sh -c 'echo hello | cat' || fail "a pipe fails"
[[ $(cat out.txt log.txt) == hello ]] || fail "a pipe says something else"

# Without symbols its functions are found by where they start in that archive of NVIDIA's.
strip -o libstripped.so libwork.so
passes 2 ./opens ./libstripped.so
TRIMTAB_MODULES='wait' passes 2 ./opens ./libstripped.so
grep -q '"by":"driver"' report.jsonl || fail "no block was chosen: $(cat report.jsonl)"
nvcc -arch=sm_75 -shared -Xcompiler -fPIC "$sources/library.cu" -o libother.so -Xlinker -z,noseparate-code -Xlinker --gc-sections -Xlinker -s \
    >log.txt 2>&1 || fail "nvcc fails"
passes 2 ./opens ./libother.so

# Of an archive that nobody knows, as one byte of a function that is never called makes it: one line that names the library and says
# what to do.
nm libwork.so | awk '$3 == "cudaArrayGetPlane" { print $1 }' >address.txt
cp libstripped.so libunknown.so
read -r in_file in_memory < <(readelf -lW libwork.so | awk '$1 == "LOAD" && /R E/ { print $2, $3; exit }')
offset=$((16#$(cat address.txt) - in_memory + in_file))
printf '\xcc' | dd of=libunknown.so bs=1 seek="$offset" conv=notrunc status=none
run ./opens ./libunknown.so && fail "a library that needs a GPU passes"
[[ $(grep -c "libunknown.so: .*nvcc -cudart shared" log.txt) == 1 && $(wc -l <log.txt) == 1 ]] || fail "no word about the library"
TRIMTAB_LOG=off run ./opens ./libunknown.so && fail "a library that needs a GPU passes"
[[ ! -s log.txt ]] || fail "TRIMTAB_LOG=off says something"
echo ok
