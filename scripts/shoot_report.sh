#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Takes the pictures of the report page, light and dark. See --help.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage() {
    cat <<END
usage: scripts/shoot_report.sh PAGE.html [--output DIR]

Writes DIR/report-light.png and DIR/report-dark.png (default: docs/images): the top of a page that \`trimtab advise --report\`
wrote, 900 pixels wide. Needs Chromium.
END
}

output=$root/docs/images page=''
while (($# > 0)); do
    case $1 in
        --output) output=$(realpath -m "$2") && shift ;;
        -h | --help) usage && exit 0 ;;
        -*) usage_error "unknown argument '$1'" ;;
        *) page=$(realpath "$1") ;;
    esac
    shift
done
[[ -n $page ]] || usage_error "which page?"
work=$(mktemp -d "${TMPDIR:-/tmp}/trimtab-shoot-XXXXXX")
trap 'rm -rf "$work"' EXIT
for scheme in dark light; do
    preferred=$([[ $scheme == dark ]] && echo 0 || echo 1)
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" --window-size=900,1090 \
        --blink-settings=preferredColorScheme="$preferred" --virtual-time-budget=30000 \
        --screenshot="$output/report-$scheme.png" "file://$page" 2>"$work/log" || die 3 "$(tail -n 3 "$work/log")"
done
say "$output/report-light.png, $output/report-dark.png"
