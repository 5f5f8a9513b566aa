#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# page.sh BUILD SOURCE SIZE: the report page of SOURCE's program, in a browser: every chart is drawn, nothing is said on
# the console, and nothing is wider than the page, on a wide light screen and on a narrow dark one. Without Chromium the
# page is not looked at (exit 77).
set -euo pipefail

browser=
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then browser=$name && break; fi
done
[[ -n $browser ]] || { echo "no Chromium here: the page is not looked at"; exit 77; }

# shellcheck source-path=SCRIPTDIR source=../../built_program.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../built_program.sh" "$1" "$2"
size=$3

build_program
"$build/bin/trimtab" advise --report page.html -- ./"$name" "$size" >advice.txt 2>log.txt ||
    fail "no advice: $(tail -n 5 log.txt)"

look() { # WIDTH SCHEME: 0 dark, 1 light
    # In a frame, whose width no browser's smallest window limits.
    cat >frame.html <<END
<!doctype html><title>frame</title><iframe id="page" src="page.html" width="$1" height="2000"></iframe>
<script>
  const frame = document.getElementById('page');
  frame.onload = () => setInterval(() => {
    const inner = frame.contentDocument, root = inner.documentElement;
    const all = [...inner.querySelectorAll('figure[data-chart]')];
    if (!/^[0-9]+\$/.test(root.dataset.charts || '')) return;
    const drawn = all.filter(figure => figure.querySelector('svg path, svg text, canvas')).length;
    const dark = frame.contentWindow.matchMedia('(prefers-color-scheme: dark)').matches;
    document.title = 'charts ' + drawn + '/' + all.length + ' said ' + root.dataset.charts + ' overflow ' +
        Math.max(0, root.scrollWidth - root.clientWidth) + ' dark ' + dark;
  }, 100);
</script>
END
    timeout 100 "$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files \
        --user-data-dir="$PWD/profile" --blink-settings=preferredColorScheme="$2" --window-size=1400,2200 \
        --virtual-time-budget=30000 --enable-logging=stderr --dump-dom "file://$PWD/frame.html" >frame.txt 2>browser.txt ||
        fail "the browser failed: $(tail -n 3 browser.txt)"
    if grep -q CONSOLE browser.txt; then fail "$1 wide: $(grep CONSOLE browser.txt)"; fi
    local seen expected dark=false
    if [[ $2 == 0 ]]; then dark=true; fi
    seen=$(sed -n 's,.*<title>\(charts [^<]*\)</title>.*,\1,p' frame.txt | head -n 1)
    expected=$(grep -c '<figure data-chart' page.html)
    [[ $seen == "charts $expected/$expected said $expected overflow 0 dark $dark" ]] ||
        fail "$1 wide: '$seen', of $expected charts"
}
look 1280 1
look 390 0
for chart in kernels gains roofline costs resources benefits occupancy strip blocks; do
    grep -q "data-chart=\"$chart\"" page.html || fail "no chart of $chart"
done
