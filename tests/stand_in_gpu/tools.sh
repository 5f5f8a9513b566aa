#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tools.sh BUILD CLANG CUDA C_COMPILER: on a stand-in GPU (gpu.h), other tools keep their place before Trimtab; other names, sizes
# and versions of the GPU and its driver are taken as they are; a runtime of CUDA 12 is said once.
set -euo pipefail
build=$(realpath "$1")
clang=$2
cuda=$3
compiler=$4
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/tools
gpu=$build/lib/stand-in-gpu
work=$build/tests/stand_in_gpu/tools
rm -rf "$work"
mkdir -p "$work"
cd "$work"
unset TRIMTAB TRIMTAB_DEVICE TRIMTAB_LOG LD_PRELOAD
export XDG_CACHE_HOME=$work/cache LD_LIBRARY_PATH=$gpu

fail() {
    echo "tools: $*"
    cat out.txt log.txt 2>/dev/null || true
    exit 1
}
# run VARIABLE=VALUE... COMMAND: leaves out.txt and log.txt.
run() { env "$@" >out.txt 2>log.txt || fail "$* ends with $?"; }

"$clang" -x cuda "--cuda-path=$cuda" --cuda-gpu-arch=sm_75 --cuda-include-ptx=all -O2 -fPIC -Wno-unknown-cuda-version -c "$here/main.cu" -o main.o
"$clang" main.o -o main "$gpu/libcudart.so.13"
"$build/bin/trimtab++" -O2 --trimtab-quiet "$here/main.cu" -o tuned
"$compiler" -shared -fPIC -O1 "$here/tool.c" -o libtool.so -ldl
run ./main
[[ $(cat out.txt) == "131070 " ]] || fail "the program does not run on the stand-in GPU"

# A tool that is preloaded stays the first, and its functions go on to Trimtab's, which has another block for the launches.
run TRIMTAB_MODULES=wait TRIMTAB_REPORT=report.jsonl LD_PRELOAD="$work/libtool.so" "$build/bin/trimtab" run -- ./main
[[ $(cat out.txt) == "131070 $work/libtool.so:"*/libtrimtab.so ]] || fail "the tool is not the first"
grep -qx "tool: 2 launches" log.txt || fail "the tool does not see the launches"
(($(grep -c '"by":"driver"\|"by":"remembered"' report.jsonl) == 2)) || fail "Trimtab does not see them: $(cat report.jsonl)"
# Once is enough.
run LD_PRELOAD="$build/lib/libtrimtab.so" TRIMTAB_MODULES=off "$build/bin/trimtab" run -- ./main
(($(grep -o libtrimtab.so out.txt | wc -l) == 1)) || fail "it is preloaded twice"
# A tool that the driver injects is told once, with Trimtab as without.
for program in ./main ./tuned; do
    run CUDA_INJECTION64_PATH="$work/libtool.so" "$program"
    if [[ $program == ./tuned ]]; then grep -qx "tool: initialised 1 times" log.txt || fail "$program: the tool is not injected once"; fi
done

# An object of trimtab++ that another compiler has linked, with CUDA's library: its launches are chosen, by their kernels' names.
"$build/bin/trimtab++" -O2 --trimtab-quiet -c "$here/main.cu" -o object.o
"$clang" object.o -o linked "$gpu/libcudart.so.13"
rm -f report.jsonl
run TRIMTAB_REPORT=report.jsonl LD_PRELOAD="$gpu/libstand_in_gpu_device_files.so" ./linked
[[ $(cat out.txt) == "131070 "* && ! -s log.txt ]] || fail "the program that another compiler linked does not run"
(($(grep -c '"by":"driver"\|"by":"remembered"' report.jsonl) == 2)) || fail "its launches are not chosen: $(cat report.jsonl)"

# Names, sizes and versions.
device_of() {
    rm -f report.jsonl
    run TRIMTAB_REPORT=report.jsonl "$@" ./tuned
    [[ ! -s log.txt ]] || fail "$* says something"
    sed -n '1s/.*"device":"\([^"]*\)".*/\1/p' report.jsonl
}
[[ $(device_of A=1) == rtx2070super ]] || fail "the GPU is not known by its name"
[[ $(device_of STAND_IN_GPU=h100 STAND_IN_GPU_NAME="NVIDIA H100 80GB HBM3 MIG 1g.10gb" STAND_IN_GPU_SMS=16) == "NVIDIA H100 80GB HBM3 MIG 1g.10gb" ]] ||
    fail "a part of a GPU (MIG) is taken for another"
[[ $(device_of STAND_IN_GPU_SMS=10) == "rtx2070super, 10 SMs" ]] || fail "a part of the SMs (MPS) is taken for all"
[[ $(device_of STAND_IN_GPU_DRIVER=13020) == rtx2070super ]] || fail "a newer driver"
run STAND_IN_GPU_DRIVER=12080 ./tuned
[[ $(wc -l <log.txt) == 1 && $(cat log.txt) == "trimtab: the GPU's driver is of CUDA 12.8, older than the runtime, 13.0"* ]] ||
    fail "an older driver is not said in one line"

# Where the emulator stands in although there is a GPU.
run TRIMTAB_DEVICE=k20c TRIMTAB_REPORT=emulated.jsonl ./tuned
grep -q '"device":"k20c"' emulated.jsonl || fail "TRIMTAB_DEVICE is not taken"

# CUDA 12's runtime as a library: one line, and the program runs as it is.
mkdir older
# Its symbols have that library's version, as NVIDIA's have.
echo 'libcudart.so.12 { global: cuda*; local: *; };' >older/versions.map
"$compiler" -shared -fPIC -Wl,-soname,libcudart.so.12 -Wl,--version-script=older/versions.map "$here/older.c" \
    -o older/libcudart.so.12
"$compiler" "$here/older_program.c" -o older/program older/libcudart.so.12
export LD_LIBRARY_PATH=$work/older
for way in "run --device rtx2070super" preload; do
    if [[ $way == preload ]]; then
        run LD_PRELOAD="$build/lib/libtrimtab.so" older/program
    else
        # shellcheck disable=SC2086 # several words
        run "$build/bin/trimtab" $way -- older/program
    fi
    [[ $(cat out.txt) == "35 0" ]] || fail "$way: the program does not run as it is"
    [[ $(wc -l <log.txt) == 1 ]] || fail "$way: not one line"
    grep -q "libcudart.so.12: this runtime of CUDA 12 or older is used as it is: .* libcudart.so.13)" log.txt || fail "$way: another line"
done
echo PASS
