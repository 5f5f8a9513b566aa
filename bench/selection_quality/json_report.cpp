// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nlohmann/json.hpp>
#include <set>

#include "bench/selection_quality/reports.h"

namespace trimtab::bench {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Summary& s) {
    return {{"n", s.n},
            {"geomean", s.geomean},
            {"median", s.median},
            {"p10", s.p10},
            {"min", s.min},
            {"min_above_50us", s.min_above_50us},
            {"share95", s.share95}};
}

Json by_rule(const Study& study, const std::string& gpu) {
    Json json = Json::object();
    for (const std::string& rule : study.rules)
        json[rule] = {{"all", to_json(summarise(study, rule, Dimensions::all, gpu))},
                      {"1d", to_json(summarise(study, rule, Dimensions::one, gpu))},
                      {"2d", to_json(summarise(study, rule, Dimensions::two, gpu))}};
    return json;
}

Json to_json(const StudiedCase& one) {
    Json json{{"gpu", one.measured.gpu},
              {"app", one.measured.app},
              {"kernel", one.measured.kernel},
              {"n", one.measured.n},
              {"dimensions", one.launches.two_dimensional ? 2 : 1},
              {"blocks", one.legal.size()},
              {"best", {{"bx", one.best.block.x}, {"by", one.best.block.y}, {"ms", one.best.ms}}},
              {"uncertain", one.launches.uncertain},
              {"spearman", one.rank_correlation()},
              {"mape", one.mean_absolute_error()}};
    Json choices = Json::object();
    for (const auto& [rule, block] : one.choices) {
        choices[rule] = {{"bx", block.x}, {"by", block.y}};
        if (const auto efficiency = one.efficiency(rule)) choices[rule]["efficiency"] = *efficiency;
    }
    json["choices"] = std::move(choices);
    return json;
}

}  // namespace

std::string json_report(const Study& study) {
    std::set<std::string> gpus, apps;
    double exhaustive_ms = 0;
    Json cases = Json::array();
    for (const StudiedCase& one : study.cases) {
        gpus.insert(one.measured.gpu);
        apps.insert(one.measured.app);
        for (const MeasuredBlock& block : one.legal) exhaustive_ms += block.ms;
        cases.push_back(to_json(one));
    }
    Json by_gpu = Json::object(), by_app = Json::object();
    for (const std::string& gpu : gpus) by_gpu[gpu] = by_rule(study, gpu);
    for (const std::string& app : apps)
        by_app[app] = to_json(summarise(study, "trimtab", Dimensions::all, "", app));
    Json searches = Json::array(), left_out = Json::array();
    for (const SearchResult& one : study.searches)
        searches.push_back({{"kernel", one.kernel},
                            {"dimensions", one.two_dimensional ? 2 : 1},
                            {"legal_blocks", one.legal_blocks},
                            {"decision_us", one.decision_us},
                            {"evaluate_all_us", one.evaluate_all_us},
                            {"mean_loss", one.mean_loss},
                            {"worst_loss", one.worst_loss},
                            {"launches", one.launches}});
    for (const LeftOut& one : study.left_out)
        left_out.push_back({{"app", one.app},
                            {"cases", one.cases},
                            {"as_shipped", one.as_shipped},
                            {"left_out", one.left_out},
                            {"factors", one.factors}});
    return Json{{"summary", by_rule(study, "")},
                {"gpus", std::move(by_gpu)},
                {"apps", std::move(by_app)},
                {"seconds",
                 {{"decide", study.decide_seconds},
                  {"profile_and_fit", study.profile_seconds},
                  {"exhaustive_on_gpus", exhaustive_ms / 1e3}}},
                {"searches", std::move(searches)},
                {"leave_one_out", std::move(left_out)},
                {"notes", study.notes},
                {"skipped", study.skipped},
                {"cases", std::move(cases)}}
        .dump(1);
}

}  // namespace trimtab::bench
