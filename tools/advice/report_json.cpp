// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nlohmann/json.hpp>

#include "core/base/json_value.h"
#include "tools/advice/report.h"

namespace trimtab::advice {
namespace {

using Json = nlohmann::ordered_json;
using base::JsonValue;

Json dimensions(const trimtab_dim3& size) {
    return {size.x, size.y, size.z};
}

Json numbers(const std::map<std::string, double>& values) {
    Json out = Json::object();
    for (const auto& [name, value] : values) out[name] = value;
    return out;
}

Json optional(const std::optional<double>& value) {
    return value ? Json(*value) : Json();
}

Json finding_json(const Finding& finding) {
    Json evidence = Json::array();
    for (const Evidence& line : finding.evidence)
        evidence.push_back({{"source", line.source}, {"column", line.column}, {"text", line.text}});
    return {{"rule", finding.rule},
            {"title", finding.title},
            {"gain", finding.gain},
            {"gain_at_least", finding.least},
            {"gain_at_most", finding.most},
            {"gain_by_emulation", optional(finding.emulated_gain)},
            {"gain_by_model", optional(finding.model_gain)},
            {"saves_ns", finding.saves_ns},
            {"change", finding.change},
            {"remedy", finding.remedy},
            {"by", finding.by},
            {"evidence", std::move(evidence)}};
}

Json metrics_json(const DerivedMetrics& metrics) {
    return {{"instructions_per_byte_dram", metrics.instructions_per_byte_dram},
            {"instructions_per_byte_l2", metrics.instructions_per_byte_l2},
            {"balance", metrics.balance},
            {"dram_bytes_per_s", metrics.dram_bytes_per_s},
            {"l2_bytes_per_s", metrics.l2_bytes_per_s},
            {"dram_share", metrics.dram_share},
            {"issue_share", metrics.issue_share},
            {"l2_hit_share", metrics.l2_hit_share},
            {"l1_hit_share", metrics.l1_hit_share},
            {"transactions_per_request", metrics.transactions_per_request},
            {"spill_share", metrics.spill_share},
            {"serialisation", metrics.serialisation},
            {"divergence", metrics.divergence},
            {"bank_conflicts_per_access", metrics.bank_conflicts_per_access}};
}

Json measured_json(const Measured& measured) {
    Json counters = Json::object(), stalls = Json::object();
    for (const CountedFigure& figure : measured.figures)
        counters[std::string(figure.section)][std::string(figure.label)] = {
            {"metric", figure.metric}, {"value", figure.value}, {"unit", si_unit(figure.dimension)}};
    for (const Measured::Stall& stall : measured.stalls) stalls[std::string(stall.reason)] = stall.share;
    return {{"is_timed", measured.has_time},
            {"is_labelled", measured.is_labelled},
            {"model_ns", measured.model_ns},
            {"achieved_occupancy", optional(measured.achieved_occupancy)},
            {"metrics", metrics_json(measured.metrics)},
            {"bound_by_issue_and_memory_alone", measured.plain ? Json(name(*measured.plain)) : Json()},
            {"stalls", std::move(stalls)},
            {"counters", std::move(counters)},
            {"rules_that_lack_counters", measured.lacking_rules},
            {"rules_that_need_the_code", measured.code_rules},
            {"lacking_metrics", measured.lacking_metrics}};
}

Json kernel_json(const KernelAdvice& kernel) {
    Json resources = Json::array(), lines = Json::array(), findings = Json::array(),
         occupancy = Json::array();
    for (const Resource& resource : kernel.rooflines.resources)
        resources.push_back({{"name", resource.name},
                             {"is_memory", resource.is_memory},
                             {"work", resource.work},
                             {"rate_per_s", resource.rate},
                             {"ns", resource.ns},
                             {"used", resource.used}});
    for (const SourceLine& line : kernel.lines)
        lines.push_back({{"source", line.source},
                         {"share", line.share},
                         {"instructions", line.instructions},
                         {"requests", line.requests},
                         {"sectors", line.sectors},
                         {"passes", line.passes}});
    for (const KernelAdvice::BlockPoint& point : kernel.occupancy_by_block)
        occupancy.push_back({point.threads, point.occupancy});
    for (const Finding& finding : kernel.findings) findings.push_back(finding_json(finding));
    Json out{{"kernel", kernel.facts.demangled},
             {"mangled", kernel.kernel},
             {"source", kernel.facts.source},
             {"launches", kernel.launches},
             {"shapes", kernel.shapes},
             {"total_ns", kernel.total_ns},
             {"share", kernel.share},
             {"grid", dimensions(kernel.grid)},
             {"block", dimensions(kernel.block)},
             {"time_ns", kernel.time_ns},
             {"emulated_ns", optional(kernel.emulated_ns)},
             {"not_emulated", kernel.not_emulated},
             {"label", {{"bound", name(kernel.label.bound)}, {"limiter", kernel.label.limiter}}},
             {"bottleneck", kernel.bottleneck},
             {"headroom", kernel.rooflines.headroom()},
             {"within_20_percent", kernel.is_close},
             {"occupancy",
              {{"fraction", kernel.occupancy.fraction},
               {"blocks_per_sm", kernel.occupancy.blocks_per_sm},
               {"limited_by", model::name(kernel.occupancy.limiter)},
               {"by_block", std::move(occupancy)}}},
             {"rooflines", std::move(resources)},
             {"derived", numbers(kernel.derived)},
             {"gpuperf_ns", numbers(kernel.benefits)},
             {"no_gpuperf", kernel.no_benefits},
             {"lines", std::move(lines)},
             {"findings", std::move(findings)}};
    if (kernel.measured) out["measured"] = measured_json(*kernel.measured);
    return out;
}

}  // namespace

std::string to_json(const Advice& advice) {
    Json kernels = Json::array();
    for (const KernelAdvice& kernel : advice.kernels) kernels.push_back(kernel_json(kernel));
    Json program_findings = Json::array();
    for (const Finding& finding : advice.program_findings) program_findings.push_back(finding_json(finding));
    const auto copies = [](const emulator::CopySum& sum) {
        return Json{{"count", sum.count}, {"bytes", sum.bytes}, {"ns", sum.ns}};
    };
    Json report{
        {"advice", report_version},
        {"device", advice.device},
        {"device_name", advice.device_name},
        {"program", advice.program},
        {"total_ns", advice.total_ns},
        {"transfers", {{"to_device", copies(advice.run.to_device)}, {"to_host", copies(advice.run.to_host)}}},
        {"program_findings", std::move(program_findings)},
        {"notes", advice.notes},
        {"kernels", std::move(kernels)}};
    if (!advice.set.empty()) report["set"] = Json::parse(advice.set);
    return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::expected<std::vector<FormerKernel>, Error> former_report(std::string_view text,
                                                              const std::string& origin) {
    const auto json = base::parse_json(text, origin);
    if (!json) return std::unexpected(json.error());
    return base::read_json(*json, "report", origin, [](const JsonValue& report) {
        if (const auto version = report["advice"].natural(); version != report_version)
            report["advice"].fail("is " + std::to_string(version) +
                                  ": a report of another version of Trimtab");
        std::vector<FormerKernel> out;
        // Reports did not always have it.
        if (const auto program = report.find("program_findings")) {
            out.emplace_back();
            for (const JsonValue& finding : program->list())
                out.back().rules.push_back(finding["rule"].text());
        }
        for (const JsonValue& kernel : report["kernels"].list()) {
            FormerKernel former{
                .kernel = kernel["mangled"].text(), .time_ns = kernel["time_ns"].number(), .rules = {}};
            for (const JsonValue& finding : kernel["findings"].list())
                former.rules.push_back(finding["rule"].text());
            out.push_back(std::move(former));
        }
        return out;
    });
}

}  // namespace trimtab::advice
