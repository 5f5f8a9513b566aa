// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/page_frame.h"

#include <fmt/format.h>

#include "tools/trimtab/html_text.h"

namespace trimtab::tools {

std::string page_begin(std::string_view title, std::string_view style) {
    const std::string name = escaped_html(title);
    std::string page =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + name +
        "</title>\n"
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
        "<style>:root{color-scheme:light "
        "dark;--back:#fff;--text:#1b1b1b;--line:#ccc;--head:#eee;--accent:#2a6fb0;"
        "--mark:#d1495b;--warm:#f7c59f}"
        "@media(prefers-color-scheme:dark){:root{--back:#16181c;--text:#e4e4e4;--line:#444;--head:#26292f;"
        "--accent:#7ab3e8;--mark:#f08a98;--warm:#7a4420}}"
        "body{font:14px sans-serif;margin:2em;background:var(--back);color:var(--text)}"
        "@media(max-width:600px){body{margin:.8em}}"
        "a{color:var(--accent)}code{overflow-wrap:anywhere}table{border-collapse:collapse}"
        "th,td{border:1px solid var(--line);padding:.3em .6em;text-align:left;vertical-align:top}"
        "th{background:var(--head)}th[title]{cursor:help;text-decoration:underline "
        "dotted}.lead{font-size:1.15em}.number{text-align:right}.wide{overflow-x:auto}.note{opacity:.8}"
        ".launches td:nth-child(3),.launches td:nth-child(4),.launches td:nth-child(5){min-width:9em}";
    page += style;
    return page + "</style></head><body>\n<h1>" + name + "</h1>\n";
}

}  // namespace trimtab::tools
