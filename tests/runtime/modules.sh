#!/usr/bin/env bash
# modules.sh BUILD CUDA: modules that a program loads while it runs, in every way that there is: prepared, kept, used by the next run,
# with the same bytes as without Trimtab.
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
    env "$@" TRIMTAB_REPORT=report.jsonl timeout 120 ./program "$way" on.bin >out.txt 2>log.txt || status=$?
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
echo "modules that are loaded at run time: the same bytes, prepared or not"
