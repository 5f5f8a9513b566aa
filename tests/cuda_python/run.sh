#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# run.sh BUILD CUDA: CuPy, numba-cuda and cuda-python, from PyPI's wheels, under `trimtab run` on the emulator. Without the
# registry (or those versions in it) it is skipped, with a word: exit 77.
set -euo pipefail
build=$(realpath "$1")
cuda=$2
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$build/tests/cuda_python
mkdir -p "$work"
cd "$work"
export XDG_CACHE_HOME=$work/cache CUDA_PATH=$cuda CUDA_HOME=$cuda PYTHONWARNINGS=ignore CUPY_CACHE_DIR=$work/cupy NUMBA_CACHE_DIR=$work/numba
rm -rf cache cupy numba
unset TRIMTAB TRIMTAB_DEVICE TRIMTAB_LOG

# Once for these versions.
if ! cmp -s venv/requirements.txt "$here/requirements.txt"; then
    rm -rf venv
    if ! python3 -m venv venv >pip.txt 2>&1 || ! venv/bin/pip install --quiet --requirement "$here/requirements.txt" >>pip.txt 2>&1; then
        echo "skipped: the wheels are not to be had: $(tail -n 1 pip.txt)"
        exit 77
    fi
    cp "$here/requirements.txt" venv/
fi

fail() {
    echo "cuda_python: $*"
    exit 1
}

for script in with_cupy with_numba with_cuda_python; do
    rm -f "$script.jsonl"
    TRIMTAB_MODULES=wait "$build/bin/trimtab" run --device rtx2070super --report "$script.jsonl" -- venv/bin/python "$here/$script.py" \
        >"$script.out" 2>"$script.err" || fail "$script ends with $?: $(tail -n 15 "$script.err")"
    grep -qx PASS "$script.out" || fail "$script does not pass: $(cat "$script.out")"
    echo "$script: $(wc -l <"$script.jsonl") launches, $(grep -c '"by":"driver"' "$script.jsonl" || true) choices"
done
# Kernels that are written by the user get another block where it is proved.
python3 - <<'END'
import json

for script, kernel in (("with_cupy", "scale"), ("with_numba", "add"), ("with_cuda_python", "twice")):
    launches = [json.loads(line) for line in open(f"{script}.jsonl")]
    own = [launch for launch in launches if kernel in launch["kernel"]]
    assert own, (script, kernel, sorted({launch["kernel"] for launch in launches}))
    assert any(launch["chosen"]["block"] != launch["written"]["block"] for launch in own), (script, own[-1])
END
echo PASS
