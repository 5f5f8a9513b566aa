#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# errors.sh BUILD: what is wrong in an annotation is an error of the compile that names the place and quotes it; nothing is left behind.
set -euo pipefail

build=$1
work=$build/tests/annotated/errors
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
cd "$work"

fail() {
    echo "annotated errors: $*"
    exit 1
}

program() { # ANNOTATION
    cat <<SOURCE
#include <trimtab/annotate.h>

#define WIDTH 64
__global__ void TRIMTAB_TUNE($1)
scaled(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] *= 2;
}
int main() {}
SOURCE
}

refused() { # ANNOTATION, ERROR, PLACE OF THE CARET
    program "$1" >bad.cu
    for way in '-c bad.cu -o bad.o' 'bad.cu -o bad' '-fgpu-rdc bad.cu -o bad'; do
        rm -f bad bad.o
        # shellcheck disable=SC2086 # several words
        if "$build/bin/trimtab++" -O3 --trimtab-profile=off $way 2>build.log; then fail "'$1' compiles with $way"; fi
        grep -q "^bad.cu:5: error: annotation of 'scaled(float\*, int)': $2" build.log || fail "'$1', $way: $(cat build.log)"
        grep -A1 '^    ' build.log | grep -q "^    $3^" || fail "'$1', $way: the caret is elsewhere: $(cat build.log)"
        [[ ! -e bad && ! -e bad.o ]] || fail "'$1' leaves a file behind with $way"
    done
}

refused 'block(bx <= m)' "the kernel has no parameter 'm', but out, n" '            '
refused 'block(bx % WIDTH == 0), grid(ceil(n))' 'ceil takes a division' '                          '
refused 'blok(bx > 1)' 'there is no such clause' ''

# One that cannot be followed is no error: the kernel keeps its block.
program 'block(bx == 2000)' >good.cu
"$build/bin/trimtab++" -O3 good.cu -o good 2>build.log || fail "a block that no GPU has does not compile: $(cat build.log)"
grep -q 'trimtab++: warning: .*keeps its block' build.log || fail "it is not warned of: $(cat build.log)"
./good || fail "does not run"
echo "wrong annotations do not compile"
