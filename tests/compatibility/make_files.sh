#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# make_files.sh BUILD FOLDER: the files of this release that later ones must read (docs/compatibility.md). Run once a
# release, from the top of the sources, with a new folder: what stands in an older one is never made again.
set -euo pipefail

build=$(realpath "$1")
[[ ! -e $2 ]] || { echo "make_files: $2 is there already" && exit 2; }
mkdir -p "$2"
folder=$(realpath "$2")
source=samples/more/saxpy.cu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache TRIMTAB_LOG=off

"$build/bin/trimtab++" -O2 -c "$source" -o "$folder/saxpy.o" --trimtab-quiet
"$build/bin/trimtab++" "$folder/saxpy.o" -o "$work/saxpy"
"$build/bin/trimtab" inspect "$folder/saxpy.o" --json >"$work/inspect.json"
"$build/bin/trimtab" select "$folder/saxpy.o" --kernel saxpy --device rtx2070super --extent 1048576 --arg n=1000000 \
    --json >"$folder/select.json"
(cd "$work" && "$build/bin/trimtab" advise --device h100 --json -- ./saxpy 1000000) >"$folder/advice.json" 2>/dev/null
"$build/bin/trimtab++" -O2 tests/suggest/shared_kernels.cu -o "$work/sums" --trimtab-profile=off
"$build/bin/trimtab" suggest --launches 1 --quiet --reassociate -o "$folder/annotations.json" -- "$work/sums" 1 sums >"$work/out" 2>&1
cp core/model/devices/h100.json "$folder/device.json"
TRIMTAB=off TRIMTAB_DEVICE=rtx2070super TRIMTAB_CAPTURE=saxpy TRIMTAB_CAPTURE_FILE=$folder/launch.capture "$work/saxpy" 1000 \
    >/dev/null 2>&1
TRIMTAB=off TRIMTAB_DEVICE=rtx2070super "$build/libexec/trimtab-replay" "$folder/launch.capture" "$folder/launch-after.capture"
TRIMTAB_CHOICES=$folder/choices.sqlite "$build/bin/trimtab" run --device rtx2070super -- "$work/saxpy" 1000000 >/dev/null
python3 - "$work/inspect.json" "$folder/verdicts.json" "$folder/choices.sqlite" <<'END'
import json
import sqlite3
import sys

# One file, without what SQLite keeps beside it while it is in use.
choices = sqlite3.connect(sys.argv[3])
choices.execute("PRAGMA wal_checkpoint(TRUNCATE)")
choices.execute("PRAGMA journal_mode=DELETE")
choices.close()
kernels = json.load(open(sys.argv[1], encoding="utf-8"))["kernels"]
kept = [{"name": one["description"]["name"], "verdict": one["description"]["verdict"], "data": one["description"]["data"]}
        for one in kernels]
json.dump(kept, open(sys.argv[2], "w", encoding="utf-8"), indent=1)
END
