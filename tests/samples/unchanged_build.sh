#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# unchanged_build.sh BUILD SOURCE: a kernel that did not change is neither profiled nor compiled to a driver again. (How long that takes is a
# benchmark's business: here the work itself is counted.)
set -euo pipefail

build=$1
source=$2
work=$build/tests/samples/unchanged
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
cd "$work"

"$build/bin/trimtab++" -O3 -c "$source" -o first.o 2>first.log
grep -q 'profiled at' first.log
"$build/bin/trimtab++" -O3 -c "$source" -o second.o 2>second.log
[[ ! -s second.log ]] || { echo "the second build worked again: $(cat second.log)"; exit 1; }
"$build/bin/trimtab" inspect --json first.o | sed 's/first.o//' >first.json
"$build/bin/trimtab" inspect --json second.o | sed 's/second.o//' >second.json
cmp first.json second.json
