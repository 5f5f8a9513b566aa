// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text in a page.
#pragma once

#include <string>
#include <string_view>

#include "core/model/time_text.h"

namespace trimtab::tools {

// Of a time that was predicted in closed form.
[[nodiscard]] inline std::string microseconds_text(double ns) {
    return model::number_text(ns / 1e3, model::closed_form_error.time);
}

[[nodiscard]] inline std::string escaped_html(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            default:
                out += c;
        }
    }
    return out;
}

// A heading of a column, explained where one points at it.
[[nodiscard]] inline std::string column(std::string_view name, std::string_view explanation) {
    return "<th title=\"" + escaped_html(explanation) + "\">" + std::string(name) + "</th>";
}

}  // namespace trimtab::tools
