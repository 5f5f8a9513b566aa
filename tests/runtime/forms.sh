#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# forms.sh BUILD: every form of launch (forms/main.cu) is given another block where it may have one, on the legacy and on the
# per-thread default stream, and goes out as written where it may not.
set -euo pipefail

build=$1
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/forms
work=$build/tests/runtime/forms
rm -rf "$work"
mkdir -p "$work"
export XDG_CACHE_HOME=$work/cache
cd "$work"

fail() {
    echo "forms: $*"
    exit 1
}

for streams in legacy per-thread; do
    flags=(-O2 "-fgpu-default-stream=$streams" --trimtab-quiet "-I$here")
    "$build/bin/trimtab++" "${flags[@]}" -fPIC -shared "$here/library.cu" -o "liblinked-$streams.so"
    "$build/bin/trimtab++" "${flags[@]}" -fPIC -shared -DFORM_NAME=in_plugin -Drun_library=run_plugin "$here/library.cu" -o "plugin-$streams.so"
    "$build/bin/trimtab++" "${flags[@]}" "$here/main.cu" "$here/initialiser.cpp" "./liblinked-$streams.so" -o "forms-$streams" -lpthread -ldl
    rm -f report.jsonl
    export TRIMTAB_REPORT=$work/report.jsonl TRIMTAB_DEVICE=rtx2070super,h100
    "./forms-$streams" "./plugin-$streams.so" >out.txt 2>log.txt || fail "$streams ends with $?: $(cat log.txt)"
    grep -qx PASS out.txt || fail "$streams does not pass"
    FORMS_FORK=1 "./forms-$streams" >out.txt 2>log.txt || fail "$streams fails after fork: $(cat log.txt)"
    [[ ! -s log.txt ]] || fail "$streams says something: $(cat log.txt)"
    python3 - "$streams" <<'END'
import collections
import json
import re
import sys

launches = collections.defaultdict(list)
for line in open("report.jsonl"):
    launch = json.loads(line)
    launches[re.match(r"_Z\d+(.*)PKfPfi$", launch["kernel"]).group(1)].append(launch)

tuned = {"in_initialiser": 1, "in_brackets": 1, "by_call": 1, "by_config": 1, "in_stream": 1, "captured": 1,
         "in_node": 2, "in_child": 1, "in_updated": 2, "in_set": 3,
         "in_thread": 12, "in_library": 1, "in_plugin": 2, "after_fork": 1}
for kernel, count in tuned.items():
    assert len(launches[kernel]) == count, (sys.argv[1], kernel, len(launches[kernel]))
    for launch in launches[kernel]:
        grid, block = launch["chosen"]["grid"][0], launch["chosen"]["block"][0]
        assert block != 32 and block * (grid - 1) < 65536 <= block * grid, (sys.argv[1], launch)
assert {launch["device"] for launch in launches["in_thread"]} == {"rtx2070super", "h100"}
for kernel, reason in {"by_config_cooperative": "cooperative", "in_cooperative_node": "cooperative", "with_shared": "dynamic shared memory"}.items():
    for launch in launches[kernel]:
        assert launch["chosen"] == launch["written"] and reason in launch["reason"], (sys.argv[1], launch)
    assert launches[kernel], kernel
END
done
echo "every form of launch, on both default streams"
