#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Everything that must hold before a change is kept. See --help.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

all_stages=(setup style build tests tidy gcc sanitize threads)
default_stages=(setup style build tests gcc sanitize)

usage() {
    cat <<END
usage: scripts/test.sh [--all | --only STAGE,...] [--skip STAGE,...] [--verbose]

Runs, in this order (tidy, which may take as long as all others, only with --all or --only):
  setup      scripts/setup.sh --developer
  style      clang-format, which room includes which, the manual, the scripts
  build      the default preset: Release, clang (build/)
  tests      every test of that build; those that are labelled exhaustive (more of the same) only with --all
  tidy       clang-tidy on what changed since it was last clean
  gcc        g++ with assertions (build-gcc/): what programs load, and the unit tests of what computes; all with --all
  sanitize   unit tests with AddressSanitizer and UndefinedBehaviorSanitizer, clang (build-sanitize/), and one of CCCL's
             device algorithms on those libraries, built by the trimtab++ of build/; all of both with --all
  threads    the runtime's tests, and those of the emulator's workers, code cache and compiler, with ThreadSanitizer, clang
             (build-threads/), and the same of CCCL's algorithms; only with --all or --only
Tests that fail, five at most, are run once more by themselves; those that pass then are named at the end.
A stage's output is shown only when it fails (it is in build/logs/), unless --verbose. A stage that fails does not stop
those after it that can still run. Exits 0 if all passed, 1 if not.

TRIMTAB_JOBS sets how many jobs run at once (default: one a core).
END
}

verbose=false
exhaustive=false
stages=("${default_stages[@]}")
parse_stages() {
    local stage
    IFS=, read -r -a parsed <<<"$1"
    for stage in "${parsed[@]}"; do
        [[ " ${all_stages[*]} " == *" $stage "* ]] || usage_error "no stage '$stage'; there are: ${all_stages[*]}"
    done
}
while (($# > 0)); do
    case $1 in
        --only | --skip)
            (($# > 1)) || usage_error "$1 needs stages"
            parse_stages "$2"
            if [[ $1 == --only ]]; then stages=("${all_stages[@]}"); fi
            kept=()
            for stage in "${stages[@]}"; do
                named=false
                if [[ " ${parsed[*]} " == *" $stage "* ]]; then named=true; fi
                if [[ $1 == --only && $named == true || $1 == --skip && $named == false ]]; then kept+=("$stage"); fi
            done
            stages=("${kept[@]}")
            shift
            ;;
        --all) stages=("${all_stages[@]}") && exhaustive=true ;;
        --verbose) verbose=true ;;
        -h | --help) usage && exit 0 ;;
        *) usage_error "unknown argument '$1'" ;;
    esac
    shift
done
((${#stages[@]} > 0)) || usage_error "no stage is left"

cd "$root"
logs=build/logs
mkdir -p "$logs"
unsteady=$logs/unsteady.txt
rm -f "$unsteady"

# Unit tests: all but those that build and run whole programs, or test scripts, which the default build has run. Where
# only target unit_tests is built, CTest knows the others as ..._NOT_BUILT.
unit_tests=(--label-exclude 'end_to_end|slow|exhaustive|script')

# With g++ those of the rooms whose numbers a compiler could change, and what programs load; all that there is with --all.
# The tests of compiled code it leaves out, where most of the time is LLVM's: the emulator's tests run on the
# interpreter, whose code is g++'s. The corpus under every legal block, most of a stage's time, the default build runs.
targets_for_gcc=(trimtab_runtime trimtab_cudart trimtab_opencl unit_tests_{core,choosing,driver_gen})
# Certificates that are changed in one place, thousands of them, tell of the checker's rules, and those are the same in
# every build: the corpus's own certificates take the checker through its code here.
not_for_gcc='^Compiled|LegalBlocksLeaveTheSameBytes|^ChangedCertificates'
# The sanitizers watch the rooms that read what users have and run beside their programs; all of them with --all. The proof
# meets the fuzzers' corpus there, and every kernel as clang compiles it: launches of the same kernels as nvcc compiles
# them are left to the default build, and changed certificates as above. So are tests of compiled code, of which the
# sanitizers see nothing.
not_for_sanitizers='Corpus.*/[a-z_]*_nvcc|^ChangedCertificates|^Compiled[.]emulator'
targets_for_sanitizers=(unit_tests_{emulation,choosing,runtime,fuzz})

# Files under data/ are read by tests, line numbers and all: they stay as they are.
own_sources() {
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp' '*.c' '*.cu' '*.cuh'
    else
        find . -name '.?*' -prune -o -name 'build*' -type d -prune -o -regex '.*\.\(h\|cpp\|c\|cu\|cuh\)' -print
    fi | grep -v '/data/' | while read -r file; do [[ ! -f $file ]] || printf '%s\n' "$file"; done
}

# run_tests PRESET [ctest arguments]. Tests that fail are run once more, one at a time: what fails again is broken. What
# failed only among others is unsteady: it does not stop a change, and is named in the last line so that it gets mended.
run_tests() {
    local preset=$1 failed
    shift
    failed=$(folder_of "$preset")/Testing/Temporary/LastTestsFailed.log
    rm -f "$failed"
    if ctest --preset "$preset" -j "$jobs" "$@"; then return 0; fi
    [[ -s $failed ]] || return 1
    local -a names
    mapfile -t names < <(sed 's/^[0-9]*://' "$failed")
    # So many are no accident.
    ((${#names[@]} <= 5)) || return 1
    # By name: --rerun-failed goes by numbers, which are other tests' where some were left out.
    ctest --preset "$preset" -j 1 --no-tests=error --tests-regex "^($(printf '%s\n' "${names[@]}" |
        sed 's/[][(){}.*+?^$|\\]/\\&/g' | paste -sd'|'))\$" || return 1
    printf '%s\n' "${names[@]}" >>"$unsteady"
}

stage_setup() { scripts/setup.sh --developer; }

stage_style() {
    local failed=0
    local unformatted file
    unformatted=$(own_sources | xargs -r clang-format-22 --dry-run 2>&1 |
        sed -n 's/^\([^: ]*\):[0-9]*:[0-9]*: .*-Wclang-format-violations.*/\1/p' | sort -u)
    if [[ -n $unformatted ]]; then
        while read -r file; do echo "$file: run clang-format-22 -i on it"; done <<<"$unformatted"
        failed=1
    fi
    scripts/check_layers.py || failed=1
    scripts/rooms_picture.py --check || failed=1
    scripts/check_docs.py || failed=1
    scripts/spdx.py --check || failed=1
    local script  # each must at least parse
    for script in scripts/*.sh .ci/run; do bash -n "$script" || failed=1; done
    if command -v shellcheck >/dev/null; then shellcheck -x scripts/*.sh .ci/run || failed=1; fi
    return $failed
}

# From scratch in fewer, larger pieces. A folder that is there keeps its own, so that what scripts/demo.sh or a developer
# has built is not built again.
stage_build() {
    local pieces=()
    [[ -f build/CMakeCache.txt ]] || pieces=(-DTRIMTAB_UNITY=ON)
    configure default -DTRIMTAB_TESTS=ON -DTRIMTAB_BENCHMARKS=ON "${pieces[@]}" && build default
}

stage_tests() {
    local chosen=()
    $exhaustive || chosen=(--label-exclude exhaustive)
    run_tests default "${chosen[@]}"
}

stage_tidy() { nice scripts/check_tidy.py --jobs "$jobs"; }

stage_gcc() {
    local targets=("${targets_for_gcc[@]}")
    if $exhaustive; then targets=(all); fi
    configure gcc && build gcc "${targets[@]}" &&
        run_tests gcc "${unit_tests[@]}" --exclude-regex "_NOT_BUILT|$not_for_gcc"
}

# run_algorithms PRESET SANITIZERS: CCCL's device algorithms (tests/algorithms) on that preset's libraries. The cheapest
# of them has kernels compiled, cached and interpreted in part, as the others have.
run_algorithms() {
    local sources=(tests/algorithms/merges.cu) source
    if $exhaustive; then sources=(tests/algorithms/*.cu); fi
    if [[ ! -x build/bin/trimtab++ ]]; then
        echo "tests/algorithms: left out: there is no build/bin/trimtab++ (stage build makes it)"
        return
    fi
    build "$1" trimtab_runtime trimtab_cudart trimtab_choices trimtab_jit || return 1
    for source in "${sources[@]}"; do
        TYPES=one timeout 900 tests/algorithms/run.sh "$root/build" "$root/$source" "$2" "$root/build-$1/lib" || return 1
        echo "$source: passes"
    done
}

# What is not built has no labels yet, only a place holder.
stage_sanitize() {
    local targets=("${targets_for_sanitizers[@]}")
    if $exhaustive; then targets=(unit_tests); fi
    configure sanitize -DTRIMTAB_BENCHMARKS=OFF && build sanitize "${targets[@]}" &&
        UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 run_tests sanitize "${unit_tests[@]}" \
            --exclude-regex "_NOT_BUILT|$not_for_sanitizers" &&
        run_algorithms sanitize address,undefined
}

stage_threads() {
    local -x TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
    configure threads -DTRIMTAB_BENCHMARKS=OFF && build threads && build-threads/bin/choosing_test &&
        build-threads/bin/runtime_test &&
        TSAN_OPTIONS=$TSAN_OPTIONS:suppressions=$root/scripts/thread_sanitizer.supp \
            build-threads/bin/emulator_jit_test --gtest_filter='*HandedOver*:*Cache*:*Thrown*:*Outside*' &&
        run_algorithms threads thread
}

# A stage runs in a shell of its own, so that a failure inside ends the stage and not the script.
run_stage() {
    local stage=$1 log=$logs/$1.log
    if $verbose; then
        (set -e && "stage_$stage") 2>&1 | tee "$log"
    else
        (set -e && "stage_$stage") >"$log" 2>&1
    fi
}

failed=()
started=$SECONDS
for stage in "${stages[@]}"; do
    if [[ $stage == tests || $stage == tidy ]] && [[ " ${failed[*]} " == *" build "* ]]; then
        say "$stage: left out, the build failed"
        continue
    fi
    began=$SECONDS
    if run_stage "$stage"; then
        say "$stage: ok, $((SECONDS - began)) s"
    else
        failed+=("$stage")
        if ! $verbose; then tail -n 80 "$logs/$stage.log"; fi
        say "$stage: FAILED after $((SECONDS - began)) s (all of it: $logs/$stage.log)"
        if [[ $stage == setup ]]; then break; fi
    fi
done
if [[ -s $unsteady ]]; then say "failed once and passed when run again: $(paste -sd' ' "$unsteady")"; fi
((${#failed[@]} == 0)) || die 1 "failed: ${failed[*]} ($((SECONDS - started)) s in all)"
say "all passed: ${stages[*]} ($((SECONDS - started)) s in all)"
