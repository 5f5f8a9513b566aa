#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# build_once.sh BUILD SOURCE: builds SOURCE, a sample or a program of tests/programs, with BUILD/bin/trimtab++, unless a test
# has done so since anything changed that goes into it. Its second line may say "// Flags: ..." instead of -O3. Prints
# the folder of the program, which is named for the source; beside it is build.log, what the compiler said.
set -euo pipefail

build=$1
source=$2
name=$(basename "$source" .cu)
folder=$build/tests/built/$(basename "$(dirname "$source")")/$name
mkdir -p "$folder"
# One test at a time builds it.
exec 9>"$folder/lock"
flock 9
makers=("$source" "$build/bin/trimtab++" "$build/include/trimtab")
for library in "$build"/lib/*.so; do makers+=("$library"); done
changed=$(find -L "${makers[@]}" -newer "$folder/$name" -print -quit 2>&1 || true)
if [[ ! -x $folder/$name || -n $changed ]]; then
    rm -f "$folder/$name"
    export XDG_CACHE_HOME=$folder/cache
    rm -rf "$XDG_CACHE_HOME"
    flags=$(sed -n '2s,^// Flags: ,,p' "$source")
    # shellcheck disable=SC2086 # several flags
    (cd "$folder" && "$build/bin/trimtab++" ${flags:--O3} "$source" -o "$name") >"$folder/build.log" 2>&1 9>&- || {
        cat "$folder/build.log" >&2
        exit 1
    }
fi
echo "$folder"
