#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

# build_program: $source as $name. What the compiler said is in build.log. All tests of a program share one build.
build_program() {
    local built
    built=$("$(dirname "${BASH_SOURCE[0]}")/build_once.sh" "$build" "$source" 2>build.log) ||
        fail "does not build: $(cat build.log)"
    cp "$built/$name" "$built/build.log" .
}

# build_as OPTIONS...: the same with other options.
build_as() {
    "$build/bin/trimtab++" "$@" "$source" -o "$name" 2>build.log || fail "does not build: $(cat build.log)"
}
