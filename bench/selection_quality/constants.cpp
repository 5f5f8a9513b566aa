// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/selection_quality/constants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace trimtab::bench {

namespace {

double geomean(const std::vector<const StudiedCase*>& cases, const model::RationalProgram& program) {
    double logs = 0;
    for (const StudiedCase* one : cases) {
        const auto predicted = predict(one->launches, one->device, program, one->legal);
        const MeasuredBlock* chosen = predicted.empty() ? nullptr : one->find_legal(predicted.front().block);
        if (chosen != nullptr) logs += std::log(one->best.ms / chosen->ms);
    }
    return cases.empty() ? 1 : std::exp(logs / double(cases.size()));
}

// The same numbers on every machine: the standard's distributions differ between libraries.
class Normal {
  public:
    double next() {
        double sum = -6;  // twelve uniform numbers: near enough to a normal one
        for (int i = 0; i < 12; ++i) {
            state_ = state_ * 6364136223846793005u + 1442695040888963407u;
            sum += double(state_ >> 11) / 9007199254740992.0;
        }
        return sum;
    }

  private:
    std::uint64_t state_ = 20261121;
};

}  // namespace

std::vector<ModelConstant> model_constants(const model::RationalProgram& program) {
    constexpr std::array<std::string_view, 6> fitted{"sweep",    "judged",   "move little",
                                                     "share of", "measured", "convolutions"};
    std::vector<ModelConstant> out;
    for (model::NodeIndex i = 0; i < program.nodes.size(); ++i) {
        const model::Node& node = program.nodes[i];
        if (node.op == model::Op::constant &&
            std::ranges::any_of(fitted, [&](std::string_view word) { return node.comment.contains(word); }))
            out.push_back({.node = i, .value = node.value, .origin = node.comment});
    }
    return out;
}

std::vector<double> perturbed_geomeans(const Study& study, const model::RationalProgram& program,
                                       double sigma, std::size_t count) {
    std::vector<const StudiedCase*> cases;
    for (const StudiedCase& one : study.cases) cases.push_back(&one);
    const auto constants = model_constants(program);
    Normal normal;
    std::vector<double> out;
    for (std::size_t i = 0; i < count; ++i) {
        model::RationalProgram other = program;
        for (const ModelConstant& constant : constants)
            other.nodes[constant.node].value = constant.value * std::exp(sigma * normal.next());
        out.push_back(geomean(cases, other));
    }
    std::ranges::sort(out);
    return out;
}

std::vector<LeftOut> leave_one_app_out(const Study& study, const model::RationalProgram& program,
                                       const std::string& gpu) {
    const auto constants = model_constants(program);
    std::set<std::string> apps;
    for (const StudiedCase& one : study.cases)
        if (one.measured.gpu == gpu) apps.insert(one.measured.app);
    std::vector<LeftOut> out;
    for (const std::string& app : apps) {
        std::vector<const StudiedCase*> own, others;
        for (const StudiedCase& one : study.cases)
            if (one.measured.gpu == gpu) (one.measured.app == app ? own : others).push_back(&one);
        LeftOut result{.app = app,
                       .cases = own.size(),
                       .as_shipped = geomean(own, program),
                       .left_out = 0,
                       .factors = std::vector<double>(constants.size(), 1)};
        model::RationalProgram fitted = program;
        double best = geomean(others, fitted);
        for (std::size_t c = 0; c < constants.size(); ++c)
            for (const double factor : {0.5, 0.71, 1.41, 2.0}) {
                double& value = fitted.nodes[constants[c].node].value;
                const double before = value;
                value = constants[c].value * factor;
                // What is gained by less than one case in a hundred moving a fiftieth is chance.
                if (const double now = geomean(others, fitted); now > best * 1.0002) {
                    best = now;
                    result.factors[c] = factor;
                } else {
                    value = before;
                }
            }
        result.left_out = geomean(own, fitted);
        out.push_back(std::move(result));
    }
    return out;
}

}  // namespace trimtab::bench
