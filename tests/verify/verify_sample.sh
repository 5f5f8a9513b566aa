#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# verify_sample.sh BUILD SOURCE ARGUMENTS...: builds SOURCE (its second line may say "// Flags: ...") and verifies it, with the options
# that its third line may name ("// Verify: ...") or with a few blocks of two launches: no launch leaves
# other bytes with another block or in another order; of a sample, every kernel that may be re-blocked was checked.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../built_program.sh
source "$(dirname "${BASH_SOURCE[0]}")/../built_program.sh" "$1" "$2"
shift 2

build_program
options=$(sed -n '3s,^// Verify: ,,p' "$source")
# shellcheck disable=SC2086 # several options
"$build/bin/trimtab" verify ${options:---blocks 6 --launches 2} -- ./"$name" "$@" >out.txt 2>log.txt ||
    fail "is not clean: $(tail -n 20 out.txt log.txt)"
grep -qx PASS out.txt || fail "does not pass under verify"
[[ $source == */samples/* ]] || exit 0 # whose every kernel is launched
fixed=$("$build/bin/trimtab" inspect "$name" --json | grep -c '"verdict": "fixed"' || true)
all=$("$build/bin/trimtab" inspect "$name" --json | grep -c '"verdict": ' || true)
checked=$(grep -c 'the same bytes\|rounding of floating-point atomics' out.txt || true)
((checked >= all - fixed)) || fail "$all kernels, $fixed of them fixed, but $checked checked: $(cat out.txt)"
tail -n 1 out.txt
