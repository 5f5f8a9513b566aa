#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# modules.sh BUILD CUDA: modules that a program loads while it runs, and programs of nvcc's: prepared, kept, used by the next run; and
# whatever is wrong with the cache ends in launches as written, with the same bytes.
set -euo pipefail

build=$1
cuda=$2
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$build/tests/runtime/modules
rm -rf "$work"
mkdir -p "$work"
cd "$work"
export XDG_CACHE_HOME=$work/cache TRIMTAB_DEVICE=rtx2070super
modules=$work/cache/trimtab/modules

fail() {
    echo "modules: $*"
    cat log.txt 2>/dev/null || true
    cat report.jsonl 2>/dev/null || true
    exit 1
}

c++ -O1 -I"$cuda/include" "$here/modules/program.cpp" -o program -L"$build/lib" -ltrimtab -L"$cuda/lib64" -lnvrtc \
    -Wl,-rpath,"$build/lib:$cuda/lib64" 2>log.txt || fail "does not build"

# run WAY VARIABLE=VALUE...: the same bytes as without Trimtab; what was chosen is in report.jsonl.
run() {
    local way=$1 status=0
    shift
    rm -f report.jsonl
    TRIMTAB=off ./program "$way" off.bin >out.txt 2>log.txt || fail "$way fails as written"
    env "$@" TRIMTAB_REPORT=report.jsonl "$(command -v timeout)" 120 ./program "$way" on.bin >out.txt 2>log.txt || status=$?
    ((status == 0)) || fail "$way ends with $status"
    grep -qx PASS out.txt || fail "$way does not pass: $(cat out.txt)"
    cmp off.bin on.bin || fail "$way: other bytes"
}
# launches COUNT 'part of the lines'
launches() {
    [[ $(grep -c -- "$2" report.jsonl) == "$1" ]] || fail "not $1 launches with $2"
}
quiet() { [[ ! -s log.txt ]] || fail "$1 says something"; }

# Nothing is kept yet, and nothing is started.
run data TRIMTAB_MODULES=cached
launches 3 'is not prepared'
[[ ! -e $modules ]] || fail "a cache is made"

run data TRIMTAB_MODULES=wait
launches 1 '"by":"driver"'
launches 2 '"by":"remembered"'
quiet data
library=$(ls "$modules"/*.so)
[[ -z $(ls "$modules" | grep -v '\.so$\|\.lock$\|^turn$') ]] || fail "files are left over: $(ls "$modules")"
"$build/bin/trimtab" inspect "$library" >log.txt || fail "the prepared module cannot be inspected"
grep -q combine log.txt || fail "the prepared module does not hold its kernel"
rm log.txt

for way in data file packed ex library runtime link by-name; do
    run $way TRIMTAB_MODULES=cached
    grep -q '"by":"driver"' report.jsonl || fail "$way is not chosen for"
    quiet $way
done
run library TRIMTAB_MODULES=cached
launches 3 '"reason":"predicted fastest"'
run packed TRIMTAB_MODULES=cached
launches 2 '"reason":"predicted fastest"'
run ex TRIMTAB_MODULES=cached
launches 1 'cluster or cooperative attributes'
run wrong TRIMTAB_MODULES=cached
launches 2 'launched without its arguments'
launches 1 '"by":"driver"'
run data TRIMTAB_MODULES=off
launches 3 'TRIMTAB_MODULES=off'
# Handles that come again for other kernels.
run reload TRIMTAB_MODULES=wait
launches 40 '"reason":"predicted fastest"'
[[ $(ls "$modules"/*.so | wc -l) == 2 ]] || fail "not two modules"

# Beside the program, which has no child and gets no signal for it.
rm -rf cache
rm -f report.jsonl
PREPARED="ls $modules/*.so >/dev/null 2>&1" TRIMTAB_REPORT=report.jsonl ./program until-ready on.bin >out.txt 2>log.txt || fail "until-ready"
launches 1 'is being prepared'
launches 1 '"by":"driver"'
quiet until-ready

# What is wrong with the cache.
library=$(ls "$modules"/*.so)
cp "$library" whole.so
spoiled() {
    local name=$1
    run data TRIMTAB_MODULES=cached
    launches 3 'its prepared module cannot be used'
    [[ $(wc -l <log.txt) == 1 ]] || fail "$name: not one warning"
    # And it is made anew.
    run data TRIMTAB_MODULES=wait
    launches 1 '"by":"driver"'
}
head -c 5000 whole.so >"$library"
spoiled cut
printf 'x' | dd of="$library" bs=1 seek=3000 conv=notrunc 2>dd.txt
spoiled damaged
: >"$library"
spoiled empty
chmod 666 "$library"
spoiled open
# Whole, but of another ABI, of another module, or without anything in it.
cat >other.c <<'END'
#include <trimtab/driver.h>
#ifdef EMPTY
int nothing;
#else
const trimtab_bundle trimtab_module_bundle = {ABI, 0u, HASH, 0, "", 0u};
#endif
END
hash=$(basename "$library" | cut -d- -f1)
for other in "-DABI=99u -DHASH=\"$hash\"" '-DABI=TRIMTAB_DRIVER_ABI -DHASH="0123456789abcdef"' -DEMPTY; do
    read -r -a words <<<"$other"
    cc -shared -fPIC -I"$here/../../include" "${words[@]}" other.c -o other.so 2>log.txt || fail "other.c does not build"
    "$build/bin/seal_module" other.so "$library"
    spoiled "$other"
done

# A folder that cannot be written, and no trimtab: one warning.
: >file
run data XDG_CACHE_HOME="$work/file" TRIMTAB_MODULES=wait
launches 3 'its module cannot be prepared'
[[ $(wc -l <log.txt) == 1 ]] || fail "a cache that cannot be written: not one warning"
mkdir -p alone
cp "$build"/lib/libtrimtab*.so alone/
run data LD_LIBRARY_PATH="$work/alone" XDG_CACHE_HOME="$work/empty" PATH=/nonexistent LD_PRELOAD="$work/alone/libtrimtab.so" TRIMTAB_MODULES=wait
launches 3 'trimtab is neither next to libtrimtab.so nor on PATH'
[[ $(wc -l <log.txt) == 1 ]] || fail "without trimtab: not one warning"

# What fails is remembered, and not tried again.
printf '1 it cannot be done\n' >"${library%.so}.failed"
rm "$library"
run data TRIMTAB_MODULES=wait
launches 3 'could not be prepared: it cannot be done'
[[ ! -e $library ]] || fail "what had failed was tried again"

# `trimtab prepare`: modules, and programs of nvcc's.
run file TRIMTAB_MODULES=off
"$build/bin/trimtab" prepare combine.ptx >out.txt 2>log.txt || fail "prepare fails"
[[ -e $library && ! -e ${library%.so}.failed ]] || fail "prepare makes nothing"
run data TRIMTAB_MODULES=cached
launches 1 '"by":"driver"'
refused() {
    local status=0
    "$build/bin/trimtab" prepare "$@" >out.txt 2>log.txt || status=$?
    [[ $status == 3 && $(wc -l <log.txt) == 1 ]] || fail "prepare $*: ends with $status"
}
echo "not PTX" >text.ptx
refused text.ptx
refused /nonexistent.ptx
refused "$work"
refused /bin/true
printf '.version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k() { bogus.u32 %%r1; }' >bad.ptx
refused bad.ptx
"$build/bin/trimtab" prepare --sizes 9 combine.ptx 2>log.txt && fail "takes sizes that are none" || [[ $? == 2 ]]

PATH=$cuda/bin:$PATH nvcc -arch=sm_75 "$here/modules/vector_add.cu" -o vector_add >log.txt 2>&1 || fail "nvcc fails"
TRIMTAB=off "$build/bin/trimtab" run -- ./vector_add off.bin >out.txt 2>log.txt || fail "nvcc's program fails as written"
rm -f report.jsonl
"$build/bin/trimtab" prepare --quiet vector_add >out.txt 2>log.txt || fail "prepare fails for nvcc's program"
TRIMTAB_MODULES=cached "$build/bin/trimtab" run --report report.jsonl -- ./vector_add on.bin >out.txt 2>log.txt || fail "nvcc's program fails"
cmp off.bin on.bin || fail "nvcc's program: other bytes"
launches 1 '"by":"driver"'
echo "modules that are loaded at run time: the same bytes, prepared or not"
