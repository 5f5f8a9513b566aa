#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# clean.sh BUILD SOURCE ARGUMENT...: of SOURCE, whose code has no defect to mend, `trimtab advise` says nothing.
set -euo pipefail

# shellcheck source-path=SCRIPTDIR source=../../built_program.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../built_program.sh" "$1" "$2"
shift 2

build_program
"$build/bin/trimtab" advise --json -- ./"$name" "$@" >advice.json 2>log.txt || fail "no advice: $(tail -n 5 log.txt)"
python3 - <<'END'
import json
advice = json.load(open("advice.json"))
assert advice["kernels"], "no kernel"
found = {kernel["kernel"]: [(f["rule"], f["gain"]) for f in kernel["findings"]] for kernel in advice["kernels"]}
assert not any(found.values()), found
assert advice["program_findings"] == [], advice["program_findings"]
END
