#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the manual as a site. See --help.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<END
usage: scripts/build_site.sh [--output DIR] [--gallery DIR]

Lays the manual out as a site of MkDocs Material in DIR (default: build/site), which is read from a disk or a server,
with a search that needs neither. A link that leads nowhere is an error. --gallery adds the pages that
scripts/build_gallery.py made. Needs PyPI, for mkdocs-material and nbconvert.
END
}

output=$root/build/site gallery=''
while (($# > 0)); do
    case $1 in
        --output) output=$(realpath -m "$2") && shift ;;
        --gallery) gallery=$(realpath "$2") && shift ;;
        -h | --help) usage && exit 0 ;;
        *) usage_error "unknown argument '$1'" ;;
    esac
    shift
done
work=$(mktemp -d "${TMPDIR:-/tmp}/trimtab-site-XXXXXX")
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check install --quiet mkdocs-material==9.8.1 mkdocs==1.6.1 nbconvert==7.17.2 ||
    die 3 "MkDocs and nbconvert could not be installed from PyPI"
"$work/venv/bin/python" "$root/scripts/site_pages.py" --output "$work/pages" ${gallery:+--gallery "$gallery"}
"$work/venv/bin/python" - "$root/mkdocs.yml" "$work" <<'END'
import json, pathlib, sys, yaml
settings, work = sys.argv[1], pathlib.Path(sys.argv[2])
config = yaml.safe_load(pathlib.Path(settings).read_text())
config |= {"docs_dir": str(work / "pages"), "nav": json.loads((work / "pages" / "nav.json").read_text())}
(work / "pages" / "nav.json").unlink()
(work / "mkdocs.yml").write_text(yaml.safe_dump(config))
END
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || echo 315532800)}
NO_MKDOCS_2_WARNING=1 "$work/venv/bin/mkdocs" build --quiet --strict --config-file "$work/mkdocs.yml" --site-dir "$output"
say "$output/docs/index.html: $(find "$output" -name '*.html' | wc -l) pages"
