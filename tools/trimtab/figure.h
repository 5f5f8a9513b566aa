// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One chart's place in a page.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tools/trimtab/html_text.h"

namespace trimtab::tools {

// `chart` is a name in page/charts.json; `sets` its data sets by name, each a list of objects.
[[nodiscard]] inline std::string figure(std::string_view chart, std::string_view title,
                                        const nlohmann::ordered_json& sets) {
    std::string data = sets.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    // "</script>" in a name would end the element.
    for (std::size_t at = 0; (at = data.find("</", at)) != std::string::npos; at += 3)
        data.insert(at + 1, 1, '\\');
    return fmt::format(
        "<figure data-chart=\"{}\" role=\"img\" aria-label=\"{}\"><script "
        "type=\"application/json\">{}</script>"
        "</figure>\n",
        chart, escaped_html(title), data);
}

}  // namespace trimtab::tools
