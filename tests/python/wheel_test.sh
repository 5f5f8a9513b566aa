#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# wheel_test.sh SOURCES BUILD: the wheel is the same when it is built again, holds what it must, and is used from a
# fresh environment in which nothing else of Trimtab is to be found.
set -euo pipefail
sources=$1 build=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/trimtab-wheel-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*" >&2 && exit 1; }

SOURCE_DATE_EPOCH=1700000000 "$sources/scripts/build_wheel.sh" --build "$build" --output "$work/one"
SOURCE_DATE_EPOCH=1700000000 "$sources/scripts/build_wheel.sh" --build "$build" --output "$work/two"
cmp "$work"/one/*.whl "$work"/two/*.whl || fail "two builds have other bytes"
wheel=$(echo "$work"/one/*.whl)

python3 - "$wheel" <<'END' || fail "the wheel's content"
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    names = wheel.namelist()
    sbom = json.loads(wheel.read(next(name for name in names if name.endswith("sboms/trimtab.cdx.json"))))
    components = {component["name"] for component in sbom["components"]}
    for name in ("CLI11", "libllvm22", "libhiredis0.14", "libsqlite3-0"):
        assert name in components, (name, components)
        assert name == "CLI11" or any(f"licences/{name}" in file for file in names), name
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names), names
    assert "trimtab/prefix/share/doc/LICENSES.md" in names, names
    licences = sbom["metadata"]["component"]["licenses"]
    assert licences == [{"expression": "Apache-2.0 WITH LLVM-exception"}], licences
    libraries = {file.split("/")[1].split("-")[0] for file in names if file.startswith("trimtab.libs/")}
    told = " ".join(component.get("description", "") for component in sbom["components"])
    missing = {library for library in libraries if library not in told}
    assert not missing, f"not in the SBOM: {missing}"
    assert sbom["specVersion"] == "1.6" and sbom["bomFormat"] == "CycloneDX"
END

python3 -m venv "$work/venv"
"$work/venv/bin/pip" --disable-pip-version-check install --quiet "$wheel[tuners]"
export PATH=$work/venv/bin:/usr/bin:/bin XDG_CACHE_HOME=$work/cache
unset CUDA_HOME CUDA_PATH TRIMTAB_PREFIX PYTHONPATH LD_LIBRARY_PATH
cd "$work"
# (Not `... | grep -q`, under pipefail: grep ends at the first match, and who still writes ends by SIGPIPE.)
grep -q '^trimtab++ (Trimtab)' <<<"$(trimtab++ --version)" || fail "trimtab++ --version"
trimtab++ -O3 "$sources/samples/polybench/gemm.cu" -o gemm
grep -q "$work/venv/.*libtrimtab.so" <<<"$(ldd gemm)" || fail "gemm is not linked to the wheel's library"
TRIMTAB_LOG=info ./gemm 256 >gemm.out 2>gemm.log
grep -q '^PASS$' gemm.out || fail "gemm: $(cat gemm.out gemm.log)"
grep -q 'by driver: predicted fastest' gemm.log || fail "gemm is not tuned: $(cat gemm.log)"
python "$sources/tests/python/trimtab_test.py" || fail "the module"
"$work/venv/bin/pip" --disable-pip-version-check install --quiet nbclient==0.11.0 ipykernel==7.4.0
python "$sources/scripts/run_notebook.py" "$sources/docs/python-notebook.ipynb" || fail "the notebook prints something else"
echo "wheel: $(du -h --apparent-size "$wheel" | cut -f1)"
