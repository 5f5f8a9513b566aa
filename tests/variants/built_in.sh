#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# built_in.sh BUILD: kernels whose block is built in, as written, as chosen and under verify; launched with that block, with others, in
# a graph and by the driver's handle.
set -euo pipefail

build=$1
source=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
work=$build/tests/variants/built_in
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache TRIMTAB_DEVICE=rtx2070super
cd "$work"

fail() {
    echo "built_in: $*"
    exit 1
}

"$build/bin/trimtab++" -O3 "$source/built_in.cu" --trimtab-quiet -o built_in 2>build.log || fail "does not build: $(cat build.log)"
[[ ! -s build.log ]] || fail "warns while it builds: $(cat build.log)"
run_both_ways() { # SIZE, ENVIRONMENT...
    TRIMTAB=off ./built_in "$1" >off.txt 2>log.txt || fail "fails as written: $(cat off.txt log.txt)"
    rm -f report.jsonl
    env "${@:2}" TRIMTAB_REPORT=report.jsonl ./built_in "$1" >on.txt 2>log.txt || fail "fails as chosen: $(cat on.txt log.txt)"
    cmp off.txt on.txt || fail "prints something else as chosen, of $*: $(diff off.txt on.txt)"
}
run_both_ways 100000 TRIMTAB=on
python3 - <<'END' || fail "the report is not as it should be"
import collections
import json

of = collections.defaultdict(list)
for line in open("report.jsonl"):
    launch = json.loads(line)
    of[launch["kernel"].split("P")[0]].append(launch)
    is_other = launch["chosen"].get("kernel", "").startswith(launch["kernel"] + "$")
    assert is_other == any(launch["chosen"][of] != launch["written"][of] for of in ("grid", "block")), launch
decided = lambda name: [launch["by"] != "unchanged" for launch in of[name]]
# With the built-in block, with half of it, with two rows of it.
assert decided("_Z5scale") == [True, False, False], of["_Z5scale"]
assert "the kernel hard-codes blocks of 512 threads in x; this launch has 256" in of["_Z5scale"][1]["reason"], of["_Z5scale"]
assert decided("_Z3addILi256EEv") == [True] and decided("_Z7bounded") == [True]
assert decided("_Z9transpose") == [True] * 6, of["_Z9transpose"]
assert any("kernel" in launch["chosen"] for launch in of["_Z9transpose"]), of["_Z9transpose"]
assert decided("_Z6stride") == [True, False] and decided("_Z4rows") == [True, False]
assert decided("_Z5quads") == [True] and decided("_Z9warp_rows") == [True, False], (of["_Z5quads"], of["_Z9warp_rows"])
assert decided("_Z5moved") == [True] and decided("_Z11moved_bytes") == [True], (of["_Z5moved"], of["_Z11moved_bytes"])
assert decided("_Z13add_by_blocks") == [True, False] and decided("_Z12add_in_turns") == [True], of["_Z13add_by_blocks"]
assert of["_Z13add_by_blocks"][0]["chosen"]["block"][0] >= 32, of["_Z13add_by_blocks"]
assert "hard-codes blocks of one thread in x" in of["_Z13add_by_blocks"][1]["reason"], of["_Z13add_by_blocks"]
assert decided("_Z16number_of_blocks") == [True], of["_Z16number_of_blocks"]
# What one thread a block takes is far from what was profiled, but a block of one is a warp each whatever it touches.
assert decided("_Z15plane_of_blocks") == [True], of["_Z15plane_of_blocks"]
block = of["_Z15plane_of_blocks"][0]["chosen"]["block"]
assert block[0] * block[1] >= 32, of["_Z15plane_of_blocks"]
for launch in of["_Z16number_of_blocks"]:  # the number of threads stays
    threads = [launch[of]["grid"][0] * launch[of]["block"][0] for of in ("written", "chosen")]
    assert threads[0] == threads[1], launch
for name in ("18by_blocks_in_order", "5place", "13first_hundred", "10neighbours", "4both", "9blocks_of", "13warp_of_block", "12bits_of_both",
             "24moved_by_bytes_that_wrap", "11moved_apart"):
    assert decided("_Z" + name) == [False], of["_Z" + name]
END
run_both_ways 100001 TRIMTAB=on
TRIMTAB=off ./built_in >off.txt
./built_in >on.txt 2>log.txt || fail "fails without a report: $(cat on.txt log.txt)"
cmp off.txt on.txt || fail "prints something else without a report: $(diff off.txt on.txt)"
run_both_ways 331 TRIMTAB=on
run_both_ways 100000 TRIMTAB_CROSSCHECK=top:3
run_both_ways 100000 TRIMTAB_LEARN=1

"$build/bin/trimtab" verify --blocks all -- ./built_in 20000 >out.txt 2>log.txt || fail "verify is not clean: $(cat out.txt log.txt)"
for kernel in scale 'void add<256>' bounded transpose stride rows quads warp_rows moved moved_bytes add_by_blocks add_in_turns plane_of_blocks; do
    grep -q "^$kernel(.*the same bytes" out.txt || fail "$kernel was not verified: $(cat out.txt)"
done
"$build/bin/trimtab" inspect built_in >out.txt
[[ $(grep -c 'launched unchanged, except with' out.txt) == $(grep -c '^  hard-coded ' out.txt) ]] ||
    fail "inspect does not say which kernels have such a body: $(grep -v '^    ' out.txt)"
[[ $(grep -c '^  hard-coded ' out.txt) -ge 14 ]] || fail "inspect does not show the bodies: $(grep -v '^    ' out.txt)"
grep -q '^place.*blockDim' out.txt && fail "a body that is of no use is kept"
"$build/bin/trimtab" select built_in --kernel transpose --arg rows=100 --arg columns=1000 --grid 63,7 --block 16,16 --json >out.txt ||
    fail "select does not answer: $(cat out.txt)"
python3 - <<'END' || fail "select says something else than the runtime: $(cat out.txt)"
import json

answer = json.load(open("out.txt"))
chosen = [json.loads(line)["chosen"] for line in open("report.jsonl") if "transpose" in line]
assert answer["chosen"] != answer["written"] and answer["by"] == "driver", answer
END
# Linked without Trimtab's runtime it is the program as written.
"$build/bin/trimtab++" -O3 --trimtab-profile=off "$source/built_in.cu" -o plain 2>build.log || fail "does not build without profiles: $(cat build.log)"
"$build/bin/trimtab" inspect plain >out.txt
grep -q '\[blockDim for' out.txt && fail "there are bodies without profiles"
echo "built-in blocks: as written and as chosen, the same"
