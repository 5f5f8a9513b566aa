// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/suggestions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/analysis/annotations/annotation_file.h"
#include "core/analysis/launches/demangle.h"
#include "core/model/time_text.h"

namespace trimtab::tools {
namespace {

using Json = nlohmann::ordered_json;

struct Cell {
    bool right = true, rounded = false, watched = false;
    double ns = 0;
    std::string why;
    std::string kernel;  // of another body; empty: the kernel's own
};
struct Supposed {
    unsigned rank = 0;
    std::string fallen;
    std::map<Block, Cell> cells;
    std::size_t lines = 0;
};
struct Clauses {
    std::string block;  // of kernels with several bodies, else empty: it follows from the blocks
    std::string grid, dynamic_shared;
    friend auto operator<=>(const Clauses&, const Clauses&) = default;
};

// One kernel, of all processes.
struct Evidence {
    SuggestedFor about;
    std::string skipped, refused;
    std::size_t lines = 0;  // with launches
    std::map<Clauses, Supposed> supposed;
};

Block block_of(const Json& json) {
    return {json.at(0).get<std::uint32_t>(), json.at(1).get<std::uint32_t>(),
            json.at(2).get<std::uint32_t>()};
}

void add_cells(Supposed& supposed, const Json& blocks, bool is_longest) {
    for (const Json& entry : blocks) {
        Cell& cell = supposed.cells[block_of(entry.at("block"))];
        const std::string found = entry.at("found").get<std::string>();
        if (found == "wrong") {
            cell.right = false;
            cell.why = entry.at("why").get<std::string>();
            continue;
        }
        cell.kernel = entry.value("kernel", "");
        cell.rounded |= found == "rounded";
        cell.watched |= entry.at("watched").get<bool>();
        if (is_longest) cell.ns = entry.at("ns").get<double>();
    }
}

void add(Evidence& evidence, const Json& line) {
    SuggestedFor& about = evidence.about;
    if (const std::string why = line.at("skipped").get<std::string>(); !why.empty()) evidence.skipped = why;
    if (const std::string why = line.at("refused").get<std::string>(); !why.empty()) evidence.refused = why;
    if (const auto variants = line.find("variants"); variants != line.end())
        for (const auto& [name, variant] : variants->items())
            about.variants.insert_or_assign(
                name, analysis::Variant{.of = variant.at("of").get<std::string>(),
                                        .value = variant.at("value").get<std::int32_t>()});
    const auto launches = line.at("launches").get<std::uint64_t>();
    if (launches == 0) return;
    ++evidence.lines;
    about.launches += launches;
    about.kinds += line.at("kinds").get<std::uint64_t>();
    about.runs += line.at("runs").get<std::uint64_t>();
    about.changed_bytes += line.at("changed_bytes").get<std::uint64_t>();
    const double ns = line.at("written_ns").get<double>();
    const bool is_longest = ns > about.written_ns;
    if (is_longest) {
        about.written_ns = ns;
        for (auto& [clauses, supposed] : evidence.supposed)
            for (auto& [block, cell] : supposed.cells) cell.ns = 0;
    }
    for (const Json& written : line.at("written_blocks")) {
        const Block block = block_of(written);
        if (std::ranges::find(about.written, block) == about.written.end()) about.written.push_back(block);
    }
    for (const Json& entry : line.at("hypotheses")) {
        Supposed& supposed = evidence.supposed[{entry.value("block", ""), entry.at("grid").get<std::string>(),
                                                entry.at("dynamic_shared").get<std::string>()}];
        supposed.rank = entry.at("rank").get<unsigned>();
        ++supposed.lines;
        if (const std::string why = entry.at("fallen").get<std::string>(); !why.empty())
            supposed.fallen = why;
        add_cells(supposed, entry.at("blocks"), is_longest);
    }
}

// The blocks that a hypothesis has stood with; `with_rounding`: those too that rounding explains.
std::vector<Block> standing(const Evidence& evidence, const Supposed& supposed, bool with_rounding) {
    std::vector<Block> blocks;
    if (!supposed.fallen.empty() || supposed.lines != evidence.lines) return blocks;
    // Sums that round otherwise with one block are equal with another by chance.
    const auto is_rounded = [](const auto& entry) { return entry.second.right && entry.second.rounded; };
    if (!with_rounding && std::ranges::any_of(supposed.cells, is_rounded)) return blocks;
    for (const auto& [block, cell] : supposed.cells)
        if (cell.right && cell.watched) blocks.push_back(block);
    return blocks;
}

std::size_t others(const std::vector<Block>& blocks, const std::vector<Block>& written) {
    return static_cast<std::size_t>(std::ranges::count_if(blocks, [&written](const Block& block) {
        return std::ranges::find(written, block) == written.end();
    }));
}

std::optional<SuggestedAnnotation> best_of(const Evidence& evidence, bool with_rounding) {
    const std::vector<Block>& written = evidence.about.written;
    const Supposed* best = nullptr;
    const Clauses* clauses = nullptr;
    std::vector<Block> blocks;
    for (const auto& [named, supposed] : evidence.supposed) {
        std::vector<Block> stand = standing(evidence, supposed, with_rounding);
        const std::size_t more = others(stand, written), so_far = others(blocks, written);
        if (more == 0 ||
            (best != nullptr && (more < so_far || (more == so_far && supposed.rank >= best->rank))))
            continue;
        best = &supposed;
        clauses = &named;
        blocks = std::move(stand);
    }
    if (best == nullptr) return std::nullopt;
    SuggestedAnnotation suggestion;
    std::set<Block> refused;
    for (const auto& [named, supposed] : evidence.supposed)
        for (const auto& [block, cell] : supposed.cells)
            if (named.block.empty()) refused.insert(block);
    std::vector<Block> allowed = blocks;
    for (const Block& block : written)
        if (std::ranges::find(allowed, block) == allowed.end()) allowed.push_back(block);
    for (const Block& block : allowed) refused.erase(block);
    suggestion.text = fmt::format(
        "block({}), grid({})",
        clauses->block.empty() ? block_condition(allowed, {refused.begin(), refused.end()}) : clauses->block,
        clauses->grid);
    if (!clauses->dynamic_shared.empty())
        suggestion.text += fmt::format(", dynamic_shared({})", clauses->dynamic_shared);
    for (const Block& block : blocks)
        if (const std::string& body = best->cells.at(block).kernel; !body.empty())
            suggestion.bodies.push_back(body);
    for (const Block& block : blocks) suggestion.reassociates |= best->cells.at(block).rounded;
    if (suggestion.reassociates) suggestion.text += ", reassociate";
    suggestion.best = written.front();
    suggestion.best_ns = evidence.about.written_ns;
    for (const Block& block : blocks) {
        const Cell& cell = best->cells.at(block);
        if (cell.ns > 0 && cell.ns < suggestion.best_ns) {
            suggestion.best = block;
            suggestion.best_ns = cell.ns;
        }
    }
    std::erase_if(blocks, [&written](const Block& block) {
        return std::ranges::find(written, block) != written.end();
    });
    suggestion.blocks = std::move(blocks);
    return suggestion;
}

// Of the likeliest hypothesis, what went wrong with a block like the one written.
std::string why_none(const Evidence& evidence) {
    if (!evidence.refused.empty()) return evidence.refused;
    if (evidence.lines == 0) return evidence.skipped.empty() ? "it was not tried" : evidence.skipped;
    const Supposed* first = nullptr;
    for (const auto& [named, supposed] : evidence.supposed)
        if (supposed.fallen.empty() && !supposed.cells.empty() &&
            (first == nullptr || supposed.rank < first->rank))
            first = &supposed;
    if (first == nullptr) return "no formula for its grid describes all of its launches";
    for (const auto& [block, cell] : first->cells)
        if (!cell.right)
            return fmt::format("no other block gives the same results; with {}: {}", fmt::join(block, " x "),
                               cell.why);
    return "its launches are too large to watch; give the program smaller arguments";
}

SuggestedFor judged(Evidence evidence) {
    if (evidence.refused.empty()) {
        evidence.about.exact = best_of(evidence, false);
        auto summed = best_of(evidence, true);
        const std::size_t exact = evidence.about.exact ? evidence.about.exact->blocks.size() : 0;
        if (summed && summed->reassociates && summed->blocks.size() > exact)
            evidence.about.summed = std::move(summed);
    }
    evidence.about.hypotheses = evidence.supposed.size();
    if (!evidence.about.exact && !evidence.about.summed) evidence.about.why_none = why_none(evidence);
    return std::move(evidence.about);
}

std::string size_text(const Block& block) {
    if (block[2] > 1) return fmt::format("{}x{}x{}", block[0], block[1], block[2]);
    return block[1] > 1 ? fmt::format("{}x{}", block[0], block[1]) : std::to_string(block[0]);
}

std::string sizes_text(const std::vector<Block>& blocks) {
    constexpr std::size_t most = 12;
    std::vector<std::string> texts;
    for (const Block& block : blocks) {
        if (texts.size() == most) {
            texts.push_back(fmt::format("and {} more", blocks.size() - most));
            break;
        }
        texts.push_back(size_text(block));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

std::string time_text(double ns) {
    return model::time_text(ns, model::closed_form_error);
}

std::string counted(std::uint64_t count, const char* one, const char* many) {
    return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string to_text(const SuggestedFor& about, const SuggestedAnnotation& annotation) {
    std::string out = fmt::format(
        "    TRIMTAB_TUNE({})\n    evidence: {} in {} of {} ({}), with {}: {}; {} bytes of results\n",
        annotation.text,
        annotation.reassociates ? "the same, except for the rounding of sums" : "the same bytes",
        counted(about.runs, "run", "runs"), counted(about.launches, "launch", "launches"),
        counted(about.kinds, "kind", "kinds"),
        annotation.bodies.empty() ? counted(annotation.blocks.size(), "other block", "other blocks")
                                  : counted(annotation.bodies.size(), "other variant", "other variants"),
        sizes_text(annotation.blocks), about.changed_bytes);
    if (annotation.best_ns < about.written_ns)
        out += fmt::format("    modelled: the longest launch takes {} with blocks of {}, {} as written\n",
                           time_text(annotation.best_ns), size_text(annotation.best),
                           time_text(about.written_ns));
    else
        out += fmt::format("    modelled: the longest launch takes {}, and no other block less\n",
                           time_text(about.written_ns));
    return out;
}

Json to_json(const SuggestedFor& about, const SuggestedAnnotation& annotation) {
    return {{"annotation", annotation.text},
            {"found", annotation.reassociates ? "rounded" : "same bytes"},
            {"blocks", annotation.blocks},
            {"modelled_ns",
             {{"written", about.written_ns}, {"best", annotation.best_ns}, {"best_block", annotation.best}}}};
}

Json evidence_json(const SuggestedFor& about) {
    return {{"launches", about.launches},
            {"kinds_of_launches", about.kinds},
            {"runs", about.runs},
            {"bytes_of_results", about.changed_bytes},
            {"hypotheses", about.hypotheses},
            {"blocks_as_written", about.written}};
}

}  // namespace

std::size_t Suggestions::count() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        kernels, [](const SuggestedFor& kernel) { return kernel.exact || kernel.summed; }));
}

Suggestions read_suggestions(std::string_view json_lines) {
    // By kernel as it came, then by process: the last line says all.
    std::vector<std::string> order;
    std::map<std::string, std::map<std::string, Json>> last;
    while (!json_lines.empty()) {
        const std::size_t end = std::min(json_lines.find('\n'), json_lines.size());
        Json line = Json::parse(json_lines.substr(0, end), nullptr, false);
        json_lines.remove_prefix(std::min(end + 1, json_lines.size()));
        // A program that was ended may have left half a line.
        if (!line.is_object() || !line.contains("kernel") || !line["kernel"].is_string()) continue;
        const auto name = line["kernel"].get<std::string>();
        if (!last.contains(name)) order.push_back(name);
        std::string process = line.contains("process") ? line["process"].dump() : "";
        process += line.value("object", "");
        last[name][process] = std::move(line);
    }
    Suggestions suggestions;
    for (const std::string& name : order) {
        Evidence evidence;
        evidence.about.kernel = name;
        evidence.about.demangled = analysis::demangle(name);
        for (const auto& [process, line] : last[name]) {
            evidence.about.object = line.value("object", "");
            if (const auto names = line.find("parameters"); names != line.end() && names->is_array())
                evidence.about.parameters = names->get<std::vector<std::string>>();
            try {
                add(evidence, line);
            } catch (const Json::exception&) {
                evidence.refused = "its results cannot be read";
            }
        }
        suggestions.kernels.push_back(judged(std::move(evidence)));
    }
    return suggestions;
}

std::string to_text(const Suggestions& suggestions) {
    std::string out;
    for (const SuggestedFor& kernel : suggestions.kernels) {
        if (!kernel.exact && !kernel.summed) {
            out += fmt::format("{}: left alone: {}\n", kernel.demangled, kernel.why_none);
            continue;
        }
        out += kernel.demangled + "\n";
        if (kernel.exact) out += to_text(kernel, *kernel.exact);
        if (kernel.summed) out += to_text(kernel, *kernel.summed);
    }
    const std::size_t count = suggestions.count();
    out += fmt::format("{} of {} could have other blocks{}\n", count,
                       counted(suggestions.kernels.size(), "kernel", "kernels"),
                       count == 0 ? "" : ": evidence from these runs, not a proof; nothing was changed");
    return out;
}

Json to_json(const Suggestions& suggestions) {
    Json kernels = Json::array();
    for (const SuggestedFor& kernel : suggestions.kernels) {
        Json entry = {{"kernel", kernel.kernel},       {"demangled", kernel.demangled},
                      {"object", kernel.object},       {"suggestions", Json::array()},
                      {"left_alone", kernel.why_none}, {"evidence", evidence_json(kernel)}};
        if (kernel.exact) entry["suggestions"].push_back(to_json(kernel, *kernel.exact));
        if (kernel.summed) entry["suggestions"].push_back(to_json(kernel, *kernel.summed));
        kernels.push_back(std::move(entry));
    }
    return {{"kernels", std::move(kernels)}, {"suggested", suggestions.count()}};
}

Json annotation_file(const Suggestions& suggestions, bool with_rounding) {
    Json kernels = Json::array(), rounded = Json::array();
    // What a launch of one body has shown of the others holds for them, where none of theirs was met.
    std::set<std::string> named;
    for (const SuggestedFor& kernel : suggestions.kernels)
        if (kernel.exact || (kernel.summed && with_rounding)) named.insert(kernel.kernel);
    for (const SuggestedFor& kernel : suggestions.kernels) {
        // Of the kernel, or of another body of it.
        const auto entry = [&kernel](const SuggestedAnnotation& annotation, const std::string& name) -> Json {
            Json evidence = evidence_json(kernel);
            evidence["found"] = annotation.reassociates ? "rounded" : "same bytes";
            evidence["blocks"] = annotation.blocks;
            Json about = {{"kernel", name},
                          {"demangled", analysis::demangle(name)},
                          {"parameters", kernel.parameters},
                          {"annotation", annotation.text}};
            if (const auto variant = kernel.variants.find(name);
                variant != kernel.variants.end() && !annotation.bodies.empty())
                about["variant"] = {{"of", variant->second.of}, {"value", variant->second.value}};
            about["evidence"] = std::move(evidence);
            return about;
        };
        const auto add_with_bodies = [&](const SuggestedAnnotation& annotation) {
            kernels.push_back(entry(annotation, kernel.kernel));
            for (const std::string& body : annotation.bodies)
                if (named.insert(body).second) kernels.push_back(entry(annotation, body));
        };
        if (kernel.summed && with_rounding) {
            add_with_bodies(*kernel.summed);
            continue;
        }
        if (kernel.exact) add_with_bodies(*kernel.exact);
        if (kernel.summed) rounded.push_back(entry(*kernel.summed, kernel.kernel));
    }
    return {{"trimtab_annotations", analysis::annotation_file_version},
            {"made_by", "trimtab suggest"},
            {"kernels", std::move(kernels)},
            {"but_for_rounding", std::move(rounded)}};
}

}  // namespace trimtab::tools
