#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run.sh BUILD CUDA FRAMEWORK: a program of a framework, from PyPI's packages, under `trimtab run` on the emulator. Without the
# registry (or those versions in it) it is skipped, with a word: exit 77.
set -euo pipefail
build=$(realpath "$1")
cuda=$2
name=$3
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$build/tests/frameworks/$name
mkdir -p "$work"
cd "$work"
export XDG_CACHE_HOME=$work/cache CUDA_PATH=$cuda CUDA_HOME=$cuda CUDA_ROOT=$cuda PATH=$cuda/bin:$PATH PYTHONWARNINGS=ignore BUILD=$build
export CUPY_CACHE_DIR=$work/cache/cupy WARP_CACHE_PATH=$work/cache/warp TRITON_CACHE_DIR=$work/cache/triton
rm -rf cache
unset TRIMTAB TRIMTAB_DEVICE TRIMTAB_LOG TRIMTAB_MODULES

# Once for these versions.
if ! cmp -s venv/requirements.txt "$here/$name.txt"; then
    rm -rf venv
    if ! python3 -m venv venv >pip.txt 2>&1 || ! venv/bin/pip install --quiet --requirement "$here/$name.txt" >>pip.txt 2>&1; then
        echo "skipped: the packages are not to be had: $(tail -n 1 pip.txt)"
        exit 77
    fi
    cp "$here/$name.txt" venv/requirements.txt
fi

# What Triton has to be told, it is told at once.
[[ $name == triton ]] || export TRIMTAB_MODULES=wait
rm -f report.jsonl
"$build/bin/trimtab" run --device rtx2070super --report report.jsonl -- venv/bin/python "$here/with_$name.py" >out.txt 2>err.txt || {
    echo "$name ends with $?: $(tail -n 15 err.txt)"
    exit 1
}
grep -qx PASS out.txt || {
    echo "$name does not pass: $(cat out.txt)"
    exit 1
}
python3 - "$name" <<'END'
import json
import sys

name = sys.argv[1]
launches = [json.loads(line) for line in open("report.jsonl")]
changed = [launch for launch in launches if launch["chosen"]["block"] != launch["written"]["block"]]
print(f"{name}: {len(launches)} launches, {len(changed)} changed")
# Kernels that get another block.
own = {"warp": "matmul", "pycuda": "stencil", "pyopencl": "st", "pyclesperanto": "mean_separable", "cuda_core": "stencil", "taichi": "rand_states"}
if name in own:
    assert any(own[name] in launch["kernel"] for launch in changed), launches
if name == "triton":
    assert launches and all(".reqntid" in launch["reason"] for launch in launches), launches
assert launches, name
END
echo PASS
