// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "profiler/cupti/counters.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace trimtab::profiler::cupti {
namespace {

using model::Metric;

constexpr std::string_view instructions = "smsp__inst_executed.sum", lanes = "smsp__thread_inst_executed.sum";
constexpr std::string_view wavefronts = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";

std::string requests(std::string_view what) {
    return "l1tex__t_requests_pipe_lsu_mem_" + std::string(what) + ".sum";
}
std::string sectors(std::string_view what) {
    return "l1tex__t_sectors_pipe_lsu_mem_" + std::string(what) + ".sum";
}

double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

std::vector<std::string> counters_for(const CodeUse& use) {
    std::vector<std::string> names{std::string(instructions), std::string(lanes)};
    for (const char* what : {"global_op_ld", "global_op_st"}) {
        names.push_back(requests(what));
        names.push_back(sectors(what));
    }
    if (use.atomics)
        for (const char* what : {"global_op_atom", "global_op_red"}) {
            names.push_back(requests(what));
            names.push_back(sectors(what));
        }
    if (use.local)
        for (const char* what : {"local_op_ld", "local_op_st"}) names.push_back(requests(what));
    if (use.shared) names.emplace_back(wavefronts);
    return names;
}

std::map<Metric, double> metrics_of(const std::map<std::string, double>& counters, double active_warps) {
    std::map<Metric, double> out;
    if (!(active_warps > 0)) return out;
    const auto counter = [&](const std::string& name) -> std::optional<double> {
        const auto found = counters.find(name);
        return found == counters.end() ? std::nullopt : std::optional(found->second);
    };
    const auto set = [&](Metric metric, std::initializer_list<std::string> names) {
        double sum = 0;
        bool any = false;
        for (const std::string& name : names)
            if (const auto value = counter(name)) {
                sum += *value;
                any = true;
            }
        if (any) out[metric] = sum / active_warps;
    };
    set(Metric::load_requests, {requests("global_op_ld")});
    set(Metric::load_sectors, {sectors("global_op_ld")});
    set(Metric::store_requests, {requests("global_op_st")});
    set(Metric::store_sectors,
        {sectors("global_op_st"), sectors("global_op_atom"), sectors("global_op_red")});
    set(Metric::atomic_requests, {requests("global_op_atom"), requests("global_op_red")});
    set(Metric::local_requests, {requests("local_op_ld"), requests("local_op_st")});
    set(Metric::shared_wavefronts, {std::string(wavefronts)});
    const auto executed = counter(std::string(instructions)), threads = counter(std::string(lanes));
    if (executed && threads && *executed > 0) out[Metric::active_lanes] = *threads / *executed;
    return out;
}

double fenced_mean(std::vector<double> samples) {
    std::ranges::sort(samples);
    const double low = quantile(samples, 0.25), high = quantile(samples, 0.75);
    const double reach = 1.5 * (high - low);
    std::erase_if(samples, [&](double sample) { return sample < low - reach || sample > high + reach; });
    return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

}  // namespace trimtab::profiler::cupti
