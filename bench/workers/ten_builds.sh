#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds of the samples that share one Redis. See --help.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR/../../scripts source=../../scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../scripts/common.sh"

usage() {
    cat <<END
usage: bench/workers/ten_builds.sh [--build DIR] [--builds N] [--stop-after S] [FILE.cu...]

N builds (10) of the samples at once, or of the files that are named, as on so many machines: each with a cache of its
own, all with one Redis that is started here. Counts how often each kernel was profiled. --stop-after kills the server S
seconds after the start: all builds must end well all the same. Needs Debian's redis-server.
END
}

build=$root/build builds=10 stop_after='' files=()
while (($# > 0)); do
    case $1 in
        --build) build=$(realpath "$2") && shift ;;
        --builds) builds=$2 && shift ;;
        --stop-after) stop_after=$2 && shift ;;
        -h | --help) usage && exit 0 ;;
        *) files+=("$(realpath "$1")") ;;
    esac
    shift
done
((${#files[@]} > 0)) || files=("$root"/samples/polybench/*.cu "$root"/samples/more/*.cu)
work=$(mktemp -d "${TMPDIR:-/tmp}/trimtab-builds-XXXXXX")
server=''
trap '[[ -z $server ]] || kill -9 "$server" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
command -v redis-server >/dev/null || die 3 "no redis-server"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no >"$work/redis.log" &
server=$!
(umask 077 && head -c 32 /dev/urandom | base64 >"$work/key")
export TRIMTAB_STORE=redis://127.0.0.1:$port TRIMTAB_STORE_KEY=$work/key TRIMTAB_STORE_WAIT=3600
until redis-cli -p "$port" ping >/dev/null 2>&1; do sleep 0.1; done

one_build() {
    export XDG_CACHE_HOME=$work/cache-$1
    mkdir "$work/objects-$1"
    local file
    for file in "${files[@]}"; do
        "$build/bin/trimtab++" -O3 -c "$file" -o "$work/objects-$1/$(basename "$file").o" 2>>"$work/log-$1" || return 1
    done
}
running=()
for ((i = 0; i < builds; ++i)); do
    one_build "$i" &
    running+=($!)
done
if [[ -n $stop_after ]]; then
    sleep "$stop_after"
    kill -9 "$server"
    say "the server is stopped"
fi
failed=0
for pid in "${running[@]}"; do wait "$pid" || failed=$((failed + 1)); done
python3 - "$work" "$builds" "$failed" "${#files[@]}" <<'END'
import collections, pathlib, re, sys
work, builds, failed, files = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:])
count = collections.Counter()
for i in range(builds):
    for line in (work / f"log-{i}").read_text().splitlines():
        if found := re.match(r"trimtab\+\+: (.*) profiled at \d+ points", line):
            count[found.group(1)] += 1
warned = {line for i in range(builds) for line in (work / f"log-{i}").read_text().splitlines() if "shared store" in line}
objects = [sorted((p.name, p.read_bytes()) for p in (work / f"objects-{i}").iterdir()) for i in range(builds)]
print(f"{builds} builds of {files} files: {failed} failed; {len(count)} kernels profiled {sum(count.values())} times in all; "
      f"most for one: {max(count.values(), default=0)}")
print(f"objects: {'the same in all builds' if all(o == objects[0] for o in objects) else 'DIFFERENT'}")
for line in sorted(warned):
    print(line)
END
[[ -n $stop_after ]] || redis-cli -p "$port" info memory | grep '^used_memory_peak_human'
exit "$((failed > 0))"
