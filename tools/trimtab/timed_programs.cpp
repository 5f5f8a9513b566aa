// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/timed_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/json_value.h"
#include "core/base/read_text.h"

namespace trimtab::tools {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

fs::path table_of(const fs::path& folder) {
    return folder / "bench" / "bench.json";
}

// The validation has a step of that name, too; its folders begin with this file.
bool is_timed(const fs::path& folder) {
    std::error_code error;
    return fs::exists(table_of(folder), error) && !fs::exists(folder / "version.txt", error);
}

}  // namespace

std::vector<std::string> timed_folders(const std::string& folder) {
    std::error_code error;
    if (is_timed(folder)) return {folder};
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (entry.is_directory(error) && is_timed(entry.path())) out.push_back(entry.path().string());
    std::ranges::sort(out);
    return out;
}

std::expected<TimedProgram, Error> read_timed_program(const std::string& folder) {
    const std::string file = table_of(folder).string();
    const auto text = base::read_text(file);
    if (!text) return std::unexpected(text.error());
    const auto json = base::parse_json(*text, file);
    if (!json) return std::unexpected(json.error());
    return base::read_json(*json, "bench", file, [&](const base::JsonValue& root) {
        TimedProgram out{.folder = folder, .device = {}, .shares = {}};
        for (const base::JsonValue& launch : root["launches"].list()) {
            out.device = launch["device"].text();
            ++out.launches;
        }
        out.skipped_kernels = root["skipped"].list().size();
        for (const auto& [name, share] : root["summary"].members())
            out.shares.push_back({.of = name,
                                  .launches = share["launches"].natural(),
                                  .mean = share["mean_share_of_best"].number(),
                                  .least = share["least_share_of_best"].number()});
        return out;
    });
}

std::string to_table(const std::vector<TimedProgram>& programs) {
    constexpr const char* line = "{:<20} {:<28} {:>8} {:>20} {:>20}\n";
    std::string out =
        fmt::format(line, "results", "device", "launches", "as written, of best", "chosen, of best");
    for (const TimedProgram& program : programs) {
        const auto share = [&](const std::string& of) {
            const auto at = std::ranges::find(program.shares, of, &TimedProgram::Share::of);
            return at == program.shares.end() ? std::string("-")
                                              : fmt::format("{:.3f} (least {:.3f})", at->mean, at->least);
        };
        out += fmt::format(line, fs::path(program.folder).filename().string(),
                           program.device.empty() ? "-" : program.device, program.launches,
                           share("as written"), share("chosen"));
    }
    return out;
}

Json to_json(const TimedProgram& program) {
    Json shares = Json::object();
    for (const TimedProgram::Share& share : program.shares)
        shares[share.of] = {{"launches", share.launches},
                            {"mean_share_of_best", share.mean},
                            {"least_share_of_best", share.least}};
    return {{"folder", program.folder},
            {"device", program.device},
            {"launches", program.launches},
            {"skipped_kernels", program.skipped_kernels},
            {"summary", std::move(shares)}};
}

}  // namespace trimtab::tools
