#!/usr/bin/env bash
# verify_sample.sh BUILD SOURCE ARGUMENTS...: builds SOURCE (its second line may say "// Flags: ...") and verifies it: no launch leaves
# other bytes with another block or in another order; of a sample, every kernel that may be re-blocked was checked.
set -euo pipefail

build=$1
source=$2
shift 2
name=$(basename "$source" .cu)
work=$build/tests/verify/$name
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
cd "$work"

fail() {
    echo "$name: $*"
    exit 1
}

flags=$(sed -n '2s,^// Flags: ,,p' "$source")
# shellcheck disable=SC2086 # several flags
"$build/bin/trimtab++" ${flags:--O3} --trimtab-profile=off "$source" -o "$name" 2>build.log || fail "does not build: $(cat build.log)"
"$build/bin/trimtab" verify --blocks 6 --launches 2 -- ./"$name" "$@" >out.txt 2>log.txt ||
    fail "is not clean: $(tail -n 20 out.txt log.txt)"
grep -qx PASS out.txt || fail "does not pass under verify"
[[ $source == */samples/* ]] || exit 0 # whose every kernel is launched
fixed=$("$build/bin/trimtab" inspect "$name" --json | grep -c '"verdict": "fixed"' || true)
all=$("$build/bin/trimtab" inspect "$name" --json | grep -c '"verdict": ' || true)
checked=$(grep -c 'the same bytes\|floating-point atomics round' out.txt || true)
((checked >= all - fixed)) || fail "$all kernels, $fixed of them fixed, but $checked checked: $(cat out.txt)"
tail -n 1 out.txt
