#!/usr/bin/env bash
# For scripts that build one CUDA source and run it: sourced with BUILD and SOURCE as its arguments, it gives $build,
# $source, $name and a work folder of their own, named for the script's folder, as the current one.
build=$1
source=$2
name=$(basename "$source" .cu)
work=$build/tests/$(basename "$(dirname "$0")")/$name
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
cd "$work" || exit 1

fail() {
    echo "$name: $*"
    exit 1
}

# build_program OPTIONS...: builds $source as $name; its second line may say "// Flags: ..." instead of -O3. What the
# compiler said is in build.log.
build_program() {
    local flags
    flags=$(sed -n '2s,^// Flags: ,,p' "$source")
    # shellcheck disable=SC2086 # several flags
    "$build/bin/trimtab++" ${flags:--O3} "$@" "$source" -o "$name" 2>build.log || fail "does not build: $(cat build.log)"
}
