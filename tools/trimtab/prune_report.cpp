// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/prune_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "core/model/time_text.h"

namespace trimtab::tools {

namespace {

using Json = nlohmann::ordered_json;

bool same(trimtab_dim3 a, trimtab_dim3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// The items of whole work-groups.
trimtab_dim3 padded(trimtab_dim3 global, trimtab_dim3 size) {
    const auto whole = [](std::uint32_t items, std::uint32_t of) { return (items + of - 1) / of * of; };
    return {whole(global.x, size.x), whole(global.y, size.y), whole(global.z, size.z)};
}

Json to_json(trimtab_dim3 size) {
    return {size.x, size.y, size.z};
}

Json to_json(const pruning::SizeResult& one) {
    Json out{{"x", one.size.x}, {"y", one.size.y}, {"z", one.size.z}, {"fate", pruning::name(one.fate)}};
    if (one.fate == pruning::Fate::refused) return out;
    out.update(
        {{"groups_per_sm", one.groups_at_once}, {"warps_per_sm", one.warps_at_once}, {"rounds", one.rounds}});
    if (one.fate != pruning::Fate::duplicate || one.best_ns > 0)
        out.update({{"best_ns", one.best_ns}, {"worst_ns", one.worst_ns}});
    if (one.estimate_ns > 0) out["estimate_ns"] = one.estimate_ns;
    if (one.ns > 0) out["ns"] = one.ns;
    return out;
}

std::string size_text(const pruning::SizeResult& one, trimtab_dim3 global) {
    std::string out = fmt::format(
        "  {:>4} x {:>4} x {:>2}  {:>10}  {:>3} groups, {:>2} warps an SM, {:>9.1f} rounds", one.size.x,
        one.size.y, one.size.z, pruning::name(one.fate), one.groups_at_once, one.warps_at_once, one.rounds);
    if (one.ns > 0)
        out += fmt::format("  {:>12}", model::time_text(one.ns, model::emulation_error));
    else if (one.best_ns > 0)
        out += fmt::format("  at least {}", model::time_text(one.best_ns, model::emulation_error));
    if (const trimtab_dim3 whole = padded(global, one.size); !same(whole, global))
        out += fmt::format("  of {} x {} x {} items", whole.x, whole.y, whole.z);
    return out + "\n";
}

std::string other_text(const OtherSize& other, const pruning::SizeResult& best) {
    const pruning::SizeResult& one = other.result;
    std::string out =
        fmt::format("  {:<12} {:>4} x {:>4} x {:>2}", other.what, one.size.x, one.size.y, one.size.z);
    return out + (one.ns > 0 ? fmt::format("  {:>12}, {:.2f} times the chosen size's\n",
                                           model::time_text(one.ns, model::emulation_error), one.ns / best.ns)
                             : std::string("  refused\n"));
}

}  // namespace

std::string to_json(const PruneReport& report) {
    const pruning::PruneResult& result = report.pruned.result;
    Json ranking = Json::array(), sizes = Json::array(), others = Json::array();
    for (const std::size_t i : report.ranking) ranking.push_back(to_json(result.sizes[i]));
    for (const OtherSize& other : report.others) {
        others.push_back({{"what", other.what}});
        others.back().update(to_json(other.result));
    }
    Json out{{"kernel", report.question.description().demangled},
             {"device", report.question.device.slug},
             {"global", {report.global.x, report.global.y, report.global.z}},
             {"verdict", analysis::name(report.question.description().verdict)},
             {"metrics", report.metrics},
             {"method", report.method},
             {"registers", report.question.image.registers_per_thread},
             {"registers_from", report.question.registers_from},
             {"sizes_asked", result.sizes.size()},
             {"launchable", result.launchable},
             {"traced", result.traced},
             {"batches", result.batches},
             {"simulated", result.simulated},
             {"pruned", result.pruned_share()},
             {"seconds", {{"traces", result.trace_seconds}, {"search", result.search_seconds}}},
             {"assumed",
              {{"branches", report.pruned.assumed.branches},
               {"loops", report.pruned.assumed.loops},
               {"addresses", report.pruned.assumed.addresses},
               {"cut", report.pruned.assumed.is_cut}}},
             {"contradicted",
              {{"sizes", report.pruned.assumed.contradicted}, {"at", report.pruned.assumed.beyond_local}}},
             {"chosen", to_json(result.sizes[result.best])},
             {"global_padded", to_json(padded(report.global, result.sizes[result.best].size))},
             {"ranking", std::move(ranking)},
             {"others", std::move(others)}};
    if (report.lists_all) {
        for (const pruning::SizeResult& one : result.sizes) sizes.push_back(to_json(one));
        out["sizes"] = std::move(sizes);
    }
    return out.dump(2);
}

std::string to_text(const PruneReport& report) {
    const pruning::PruneResult& result = report.pruned.result;
    const pruning::SizeResult& best = result.sizes[result.best];
    std::string out = fmt::format("{} on {}, {} x {} x {} items: work-groups of {} x {} x {}, {}\n",
                                  report.question.description().demangled, report.question.device.slug,
                                  report.global.x, report.global.y, report.global.z, best.size.x, best.size.y,
                                  best.size.z, model::time_text(best.ns, model::emulation_error));
    if (const trimtab_dim3 whole = padded(report.global, best.size); !same(whole, report.global))
        out += fmt::format("  OpenCL 1.2 wants whole work-groups: {} x {} x {} items\n", whole.x, whole.y,
                           whole.z);
    out += fmt::format(
        "  {} sizes can be launched: {} traced, {} simulated, {:.1f} % pruned; {:.0f} ms for traces, {:.0f} "
        "ms "
        "for the search\n",
        result.launchable, result.traced, result.simulated, result.pruned_share() * 100,
        result.trace_seconds * 1e3, result.search_seconds * 1e3);
    out += fmt::format("  {} registers ({})\n", report.question.image.registers_per_thread,
                       report.question.registers_from);
    const Assumptions& assumed = report.pruned.assumed;
    const auto list = [&](std::string_view what, const std::vector<std::string>& places) {
        if (!places.empty()) out += fmt::format("  {}: {}\n", what, fmt::join(places, ", "));
    };
    list("decided by memory, both ways are taken", assumed.branches);
    list(fmt::format("ended by memory, {} iteration{}", report.unknown_trips,
                     report.unknown_trips == 1 ? "" : "s"),
         assumed.loops);
    list("where memory says, taken to miss", assumed.addresses);
    list(fmt::format("{} size{} refused, in which the kernel goes past its local memory",
                     assumed.contradicted, assumed.contradicted == 1 ? " is" : "s are"),
         assumed.beyond_local);
    if (report.has_contents && report.metrics == "static" &&
        !(assumed.branches.empty() && assumed.loops.empty() && assumed.addresses.empty()))
        out += "  the captured memory knows better: --metrics emulated\n";
    if (assumed.is_cut) out += "  a loop was cut short: times are too low\n";
    if (report.question.description().verdict == analysis::Verdict::fixed)
        out +=
            "  Trimtab launches this kernel as written (trimtab inspect says why): the program must allow "
            "the size\n";
    out += "\n";
    constexpr std::size_t shown = 10;
    if (report.lists_all)
        for (const pruning::SizeResult& one : result.sizes) out += size_text(one, report.global);
    else
        for (std::size_t i = 0; i < report.ranking.size() && i < shown; ++i)
            out += size_text(result.sizes[report.ranking[i]], report.global);
    if (!report.others.empty()) out += "\n";
    for (const OtherSize& other : report.others) out += other_text(other, best);
    return out;
}

}  // namespace trimtab::tools
