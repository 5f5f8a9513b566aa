#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the tools and libraries that a build of Trimtab needs. See --help.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<END
usage: scripts/setup.sh [--developer] [--check] [--cuda-wheels]

Installs the compilers and libraries that Trimtab is built with: packages of Debian 12, as root or through sudo. It lists
them before it asks for rights. If everything is there, it does nothing, quickly. On another system it names the missing
pieces and exits 3.

Into .toolchain/, without root, it puts
  cuda         NVIDIA's wheels of CUDA 13.0 from PyPI, if there is no toolkit of version 13.0 or later in CUDA_HOME, in
               /usr/local/cuda or around the nvcc on PATH
  nvdisasm     NVIDIA's disassembler, which reads ptxas's output, if no toolkit has it
  libclc       Debian's library for OpenCL C
  ptxas-11.8   NVIDIA's assembler that makes code for GPUs before Turing
  nvdisasm-12  NVIDIA's disassembler that reads code of Maxwell, Pascal and Volta
Without a network, Trimtab does without the last four.

  --developer     also install what tests, benchmarks and checks use: GoogleTest, Google Benchmark, the sanitizers,
                  clang-format, clang-tidy, ccache, lld, a Redis server, PoCL and clinfo (scripts/test.sh does this)
  --check         install nothing; exit 0 if everything is there, 1 if not
  --cuda-wheels   lay out .toolchain/cuda even if there is another toolkit (also: TRIMTAB_FORCE_CUDA_WHEELS=1)
END
}

check=false
developer=false
wheels=${TRIMTAB_FORCE_CUDA_WHEELS:-0}
for argument in "$@"; do
    case $argument in
        --check) check=true ;;
        --developer) developer=true ;;
        --cuda-wheels) wheels=1 ;;
        -h | --help) usage && exit 0 ;;
        *) usage_error "unknown argument '$argument'" ;;
    esac
done

packages=(
    clang-22 llvm-22-dev libclang-22-dev
    g++ cmake ninja-build pkg-config python3 python3-venv
    libcli11-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libsqlite3-dev
    libopenblas-dev liblapacke-dev libtbb-dev libzstd-dev liblz4-dev libxxhash-dev libmd-dev
    libhiredis-dev libssl-dev # the store that several machines share
    zlib1g-dev libxml2-dev libedit-dev libcurl4-openssl-dev # LLVM's CMake package asks for these
    graphviz # trimtab inspect --flowchart
    ocl-icd-opencl-dev # OpenCL: headers, loader
)
developer_packages=(
    libgtest-dev libgmock-dev libbenchmark-dev
    libclang-rt-22-dev # the sanitizers, and the fuzzer
    clang-format-22 clang-tidy-22 ccache
    lld-22 # the linker of a machine without ld
    redis-server # tests of the shared store start one of their own
    pocl-opencl-icd # the emulator's speed is compared with it; the OpenCL layer's tests run on it
    clinfo # reads the OpenCL platform, in a test
)
if $developer; then packages+=("${developer_packages[@]}"); fi

missing_packages() {
    local package status
    for package in "${packages[@]}"; do
        # shellcheck disable=SC2016  # dpkg's own placeholder
        status=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
        [[ $status == ii* ]] || printf '%s\n' "$package"
    done
}

# What the packages provide, for systems that name them otherwise.
missing_pieces() {
    local piece
    local commands=(clang++-22 llvm-config-22 g++ cmake ninja pkg-config python3)
    local libraries=(fmt spdlog nlohmann_json sqlite3 openblas lapacke tbb libzstd liblz4 libxxhash libmd hiredis libcrypto)
    if $developer; then
        commands+=(clang-format-22 clang-tidy-22 ld.lld-22)
        libraries+=(gtest gmock benchmark)
    fi
    for piece in "${commands[@]}"; do
        command -v "$piece" >/dev/null || echo "$piece (command)"
    done
    for piece in "${libraries[@]}"; do
        pkg-config --exists "$piece" 2>/dev/null || echo "$piece (library and headers)"
    done
    [[ -e /usr/include/CLI/CLI.hpp || -e /usr/local/include/CLI/CLI.hpp ]] || echo "CLI11 (headers)"
}

as_root() {
    if (($(id -u) == 0)); then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        die 3 "must install packages: run it as root, or install sudo. Missing: ${missing[*]}"
    fi
}

apt_get() {
    local log
    log=$(mktemp)
    if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1; then
        tail -n 30 "$log" >&2
        rm -f "$log"
        die 3 "apt-get $1 failed"
    fi
    rm -f "$log"
}

candidate() { LC_ALL=C apt-cache policy "$1" | sed -n 's/^  Candidate: //p' | grep -vx '(none)'; }

# clang-22 reached Debian 12 through its security archive, which a minimal image may not list.
enable_security_archive() {
    local list=/etc/apt/sources.list.d/trimtab-debian-security.list
    say "clang-22 is in bookworm-security, which apt does not list here: adding it in $list"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian-security bookworm-security main" |
        as_root tee "$list" >/dev/null
    apt_get update
}

install_packages() {
    say "installing ${#missing[@]} packages of Debian, as root, with what they depend on: ${missing[*]}"
    apt_get update
    candidate clang-22 >/dev/null || enable_security_archive
    local package unknown=()
    for package in "${missing[@]}"; do
        candidate "$package" >/dev/null || unknown+=("$package")
    done
    ((${#unknown[@]} == 0)) || die 3 "apt knows no such packages here: ${unknown[*]}"
    apt_get install -y --no-install-recommends "${missing[@]}"
}

setup_packages() {
    local id="" version=""
    if [[ -r /etc/os-release ]]; then
        id=$(. /etc/os-release && echo "${ID:-}")
        version=$(. /etc/os-release && echo "${VERSION_ID:-}")
    fi
    local missing=()
    if [[ $id == debian && $version == 12 ]]; then
        mapfile -t missing < <(missing_packages)
        ((${#missing[@]} > 0)) || return 0
        if $check; then die 1 "missing packages: ${missing[*]}"; fi
        install_packages
        return 0
    fi
    mapfile -t missing < <(missing_pieces)
    ((${#missing[@]} > 0)) || return 0
    say "this is ${id:-an unknown system} $version; packages are installed only on Debian 12. Missing here:" >&2
    printf '  %s\n' "${missing[@]}" >&2
    printf 'On Debian 12 the packages are: %s\n' "${packages[*]}" >&2
    exit 3
}

# The wheels unpack to nvidia/cu13/{bin,include,lib,nvvm}: a toolkit but for lib64 and the linker's names.
install_cuda_wheels() {
    local stage=$root/.toolchain/stage library
    say "laying out NVIDIA's wheels of CUDA 13.0 in ${cuda_prefix#"$root"/}"
    rm -rf "$stage"
    mkdir -p "$stage"
    python3 -m venv "$stage/venv" || die 3 "python3 cannot make a virtual environment: install python3-venv"
    "$stage/venv/bin/python" -m pip --disable-pip-version-check install --quiet --no-deps --no-compile --only-binary=:all: \
        --require-hashes --target "$stage/site" -r "$root/scripts/cuda-wheels.txt" ||
        die 3 "could not install NVIDIA's wheels from PyPI; install a CUDA toolkit >= 13.0 and set CUDA_HOME instead"
    [[ -d $stage/site/nvidia/cu13 ]] || die 3 "the wheels do not hold nvidia/cu13"
    local toolkit=$stage/site/nvidia/cu13
    ln -s lib "$toolkit/lib64"
    for library in "$toolkit"/lib/*.so.[0-9]*; do
        [[ -e ${library%%.so.*}.so ]] || ln -s "$(basename "$library")" "${library%%.so.*}.so"
    done
    chmod +x "$toolkit"/bin/* "$toolkit"/nvvm/bin/*
    mkdir "$toolkit/licenses"
    for library in "$stage"/site/*.dist-info; do
        find "$library" -iname 'license*' -type f -exec cp {} "$toolkit/licenses/$(basename "$library" .dist-info).txt" \;
    done
    rm -rf "$toolkit/.metadata" "$cuda_prefix"
    mv "$toolkit" "$cuda_prefix"
    cp "$root/scripts/cuda-wheels.txt" "$cuda_prefix/wheels.txt"
    rm -rf "$stage"
    local lack
    if lack=$(cuda_lacks "$cuda_prefix"); then die 3 "the toolkit laid out in $cuda_prefix has $lack"; fi
}

setup_cuda() {
    # Ours follows the list of wheels; anything else is taken as it is found.
    if [[ -d $cuda_prefix ]] && ! cmp -s "$root/scripts/cuda-wheels.txt" "$cuda_prefix/wheels.txt"; then
        wheels=1
    elif [[ -d $cuda_prefix ]] && ! cuda_lacks "$cuda_prefix" >/dev/null; then
        wheels=0
    fi
    if [[ $wheels != 1 ]] && find_cuda >/dev/null; then return 0; fi
    local candidate lack
    while read -r candidate; do
        if lack=$(cuda_lacks "$candidate"); then say "not used: $candidate ($lack)"; fi
    done < <(cuda_candidates)
    if $check; then die 1 "no CUDA toolkit to use of version 13.0 or later"; fi
    install_cuda_wheels
}

# Optional: whatever goes wrong leaves things as they are.
setup_nvdisasm() {
    local prefix=$root/.toolchain/nvdisasm stage=$root/.toolchain/stage-nvdisasm
    if cmp -s "$root/scripts/nvdisasm-wheel.txt" "$prefix/wheel.txt"; then return 0; fi
    if command -v nvdisasm >/dev/null || [[ -x $(find_cuda)/bin/nvdisasm ]]; then return 0; fi
    if $check; then return 0; fi
    rm -rf "$stage"
    mkdir -p "$stage"
    if python3 -m venv "$stage/venv" >"$stage/log" 2>&1 &&
        "$stage/venv/bin/python" -m pip --disable-pip-version-check --timeout 15 --retries 1 install --quiet --no-deps \
            --no-compile --only-binary=:all: --require-hashes --target "$stage/site" -r "$root/scripts/nvdisasm-wheel.txt" \
            >>"$stage/log" 2>&1 &&
        [[ -e $stage/site/nvidia/cu13/bin/nvdisasm ]]; then
        rm -rf "$prefix"
        mkdir -p "$prefix/bin"
        mv "$stage/site/nvidia/cu13/bin/nvdisasm" "$prefix/bin/"
        chmod +x "$prefix/bin/nvdisasm"
        find "$stage/site" -iname 'license*' -type f -exec cp {} "$prefix/" \;
        cp "$root/scripts/nvdisasm-wheel.txt" "$prefix/wheel.txt"
    else
        say "no nvdisasm (NVIDIA's wheel could not be had): predictions are made from PTX"
    fi
    rm -rf "$stage"
}

# Optional, too: the last ptxas that makes code for Maxwell and Pascal, and for Kepler.
setup_older_ptxas() {
    local prefix=$root/.toolchain/ptxas-11.8 stage=$root/.toolchain/stage-ptxas
    if cmp -s "$root/scripts/older-ptxas-wheel.txt" "$prefix/wheel.txt"; then return 0; fi
    if $check; then return 0; fi
    rm -rf "$stage"
    mkdir -p "$stage"
    if python3 -m venv "$stage/venv" >"$stage/log" 2>&1 &&
        "$stage/venv/bin/python" -m pip --disable-pip-version-check --timeout 15 --retries 1 install --quiet --no-deps \
            --no-compile --only-binary=:all: --require-hashes --target "$stage/site" \
            -r "$root/scripts/older-ptxas-wheel.txt" >>"$stage/log" 2>&1 &&
        [[ -e $stage/site/nvidia/cuda_nvcc/bin/ptxas ]]; then
        rm -rf "$prefix"
        mkdir -p "$prefix/bin"
        mv "$stage/site/nvidia/cuda_nvcc/bin/ptxas" "$prefix/bin/"
        chmod +x "$prefix/bin/ptxas"
        find "$stage/site" -iname 'license*' -type f -exec cp {} "$prefix/" \;
        cp "$root/scripts/older-ptxas-wheel.txt" "$prefix/wheel.txt"
    else
        say "no ptxas 11.8 (NVIDIA's wheel could not be had): registers on GPUs before Turing are those of sm_75"
    fi
    rm -rf "$stage"
}

# Optional, too: nvdisasm of CUDA 12, which reads what that ptxas makes. Of Triton's wheel, one file is kept.
setup_older_nvdisasm() {
    local prefix=$root/.toolchain/nvdisasm-12 stage=$root/.toolchain/stage-nvdisasm-12
    local inside=triton/third_party/cuda/bin/nvdisasm
    if cmp -s "$root/scripts/older-nvdisasm-wheel.txt" "$prefix/wheel.txt"; then return 0; fi
    if $check || [[ $(uname -m) != x86_64 ]]; then return 0; fi
    rm -rf "$stage"
    mkdir -p "$stage"
    if python3 -m venv "$stage/venv" >"$stage/log" 2>&1 &&
        "$stage/venv/bin/python" -m pip --disable-pip-version-check --timeout 15 --retries 1 download --quiet --no-deps \
            --only-binary=:all: --implementation cp --python-version 3.11 --abi cp311 --platform manylinux_2_17_x86_64 \
            --require-hashes --dest "$stage" -r "$root/scripts/older-nvdisasm-wheel.txt" >>"$stage/log" 2>&1 &&
        "$stage/venv/bin/python" -m zipfile -e "$stage"/triton-*.whl "$stage/site" >>"$stage/log" 2>&1 &&
        [[ -e $stage/site/$inside ]]; then
        rm -rf "$prefix"
        mkdir -p "$prefix/bin"
        mv "$stage/site/$inside" "$prefix/bin/"
        chmod +x "$prefix/bin/nvdisasm"
        cp "$root/scripts/older-nvdisasm-wheel.txt" "$prefix/wheel.txt"
    else
        say "no nvdisasm 12 (Triton's wheel could not be had): GPUs before Turing are emulated from PTX"
    fi
    rm -rf "$stage"
}

# Optional, too: the functions of OpenCL C, from Debian's package, which need not be installed.
setup_libclc() {
    local prefix=$root/.toolchain/libclc stage=$root/.toolchain/stage-libclc name=nvptx64--nvidiacl.bc
    if [[ -e $prefix/$name || -e /usr/lib/clc/$name ]]; then return 0; fi
    if $check; then return 0; fi
    rm -rf "$stage"
    mkdir -p "$stage"
    if (cd "$stage" && apt-get -qq download libclc-22) >"$stage/log" 2>&1 &&
        dpkg-deb -x "$stage"/libclc-22_*.deb "$stage/package" >>"$stage/log" 2>&1 &&
        [[ -e $stage/package/usr/lib/clc/$name ]]; then
        mkdir -p "$prefix"
        cp "$stage/package/usr/share/doc/libclc-22/copyright" "$prefix/" 2>/dev/null || true
        mv "$stage/package/usr/lib/clc/$name" "$prefix/"
    else
        say "no libclc (Debian's package libclc-22 could not be had): OpenCL C will not be compiled"
    fi
    rm -rf "$stage"
}

setup_packages
setup_cuda
setup_nvdisasm
setup_older_ptxas
setup_older_nvdisasm
setup_libclc
say "ready: $(clang++-22 --version | head -n 1), CUDA in $(find_cuda)"
