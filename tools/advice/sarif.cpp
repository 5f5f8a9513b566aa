// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "tools/advice/report.h"
#include "tools/advice/rules.h"

namespace trimtab::advice {
namespace {

using Json = nlohmann::ordered_json;

// A place in the source; null where there is none.
Json location_of(const Evidence& evidence) {
    const std::string& source = evidence.source;
    const std::size_t colon = source.rfind(':');
    if (colon == std::string::npos) return nullptr;
    int line = 0;
    const auto read = std::from_chars(source.data() + colon + 1, source.data() + source.size(), line);
    if (read.ec != std::errc() || line < 1) return nullptr;
    Json region{{"startLine", line}};
    if (evidence.column > 0) region["startColumn"] = evidence.column;
    return {{"physicalLocation",
             {{"artifactLocation", {{"uri", source.substr(0, colon)}}}, {"region", std::move(region)}}}};
}

Json result_of(const KernelAdvice& kernel, const Finding& finding) {
    Json locations = Json::array(), related = Json::array();
    std::string message =
        fmt::format("{}: {}; the kernel would be {} times as fast ({} to {}{}).", kernel.facts.demangled,
                    finding.title, factor_text(finding.gain), factor_text(finding.least),
                    factor_text(finding.most), by_the_model(finding, "; ", ""));
    for (const Evidence& evidence : finding.evidence) {
        Json location = location_of(evidence);
        if (location.is_null()) continue;
        if (locations.empty()) {
            message += fmt::format(" Here: {}.", evidence.text);
            locations.push_back(std::move(location));
        } else {
            location["message"] = {{"text", evidence.text}};
            related.push_back(std::move(location));
        }
    }
    message += fmt::format(" Remedy: {}.", finding.remedy);
    Json result{{"ruleId", finding.rule},
                {"level", finding.gain >= 1.2 ? "warning" : "note"},
                {"message", {{"text", message}}},
                {"locations", std::move(locations)}};
    if (!related.empty()) result["relatedLocations"] = std::move(related);
    return result;
}

}  // namespace

std::string to_sarif(const Advice& advice) {
    Json known = Json::array(), results = Json::array();
    for (const Rule& rule : rules())
        known.push_back({{"id", rule.id},
                         {"shortDescription", {{"text", rule.title}}},
                         {"help", {{"text", rule.remedy}}}});
    for (const KernelAdvice& kernel : advice.kernels)
        for (const Finding& finding : kernel.findings) results.push_back(result_of(kernel, finding));
    return Json{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                {"version", "2.1.0"},
                {"runs",
                 {{{"tool", {{"driver", {{"name", "trimtab advise"}, {"rules", std::move(known)}}}}},
                   {"results", std::move(results)}}}}}
               .dump(2, ' ', false, Json::error_handler_t::replace) +
           "\n";
}

}  // namespace trimtab::advice
