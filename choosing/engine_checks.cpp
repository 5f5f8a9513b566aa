// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Of the engine: choices that may change again, by emulation beside the program (TRIMTAB_CROSSCHECK) or by the times of its
// launches (TRIMTAB_LEARN=1).
#include <fmt/format.h>

#include <cmath>

#include "choosing/choices/argument_key.h"
#include "choosing/choices/leaders.h"
#include "choosing/crosscheck/moved_pointers.h"
#include "choosing/engine.h"

namespace trimtab::choosing {

bool Engine::start_check(const Question& question, const Decision& decision) {
    // Other bodies and other totals are not what the driver program's leaders are.
    if (crosscheck_.leaders() == 0 || !is_new_choice(decision.by) || !decision.nonsense.empty() ||
        decision.body != 0 || decision.has_other_total || question.pending.key_words == 0 ||
        !crosscheck_.wants_more())
        return false;
    const analysis::KernelDescription& description = *question.plan.description();
    Leaders leaders = leaders_of(decision, question.predicted(), question.shape, crosscheck_.leaders());
    if (leaders.launches.size() < 2) return false;
    auto code = host_.code(question.kernel);
    if (code == nullptr) return false;
    const std::span<const std::uint64_t> key = question.pending.key_span();
    return crosscheck_.start({&question.plan, {key.begin(), key.end()}},
                             {.kernel = description.name,
                              .code = std::move(code),
                              .device = question.device,
                              .image = question.image,
                              .parameters = with_moved_pointers(
                                  description, argument_bytes(description, question.shape.arguments)),
                              .launches = std::move(leaders.launches),
                              .written = leaders.written,
                              .least_gain = least_gain_,
                              .owner = question.owner,
                              .stored_key = question.stored_key});
}

Decision Engine::decide_awaiting(const Pending& pending, const RememberedChoice& remembered) {
    const KernelPlan& plan = *pending.plan;
    const std::span<const std::uint64_t> key = pending.key_span();
    Decision decision = plan.recall(remembered);
    const auto settled = crosscheck_.launched({&plan, {key.begin(), key.end()}});
    if (!settled) return decision;
    decision.awaits_check = false;
    if (const CheckOutcome* outcome = settled->outcome.get();
        outcome != nullptr && outcome->end == CheckEnd::changed) {
        const CheckedLaunch& chosen = outcome->launches[outcome->chosen];
        decision.launch = chosen.launch;
        decision.chosen_ns = chosen.predicted_ns;
        decision.by = By::crosscheck;
        decision.reason = outcome->why;
        decision.remembered = false;
    }
    plan.remember(key, pending.key_hash, decision);
    if (settled->is_first) decision.check = settled->outcome;
    return decision;
}

bool Engine::start_learning(const Question& question, const Decision& decision) {
    // Other bodies and other totals are not what the driver program's leaders are. A launch that is observed alone, or made
    // again in other shapes, goes out as written.
    if (!learning_.is_on() || mode_ != Mode::on || repeats_ || !decision.nonsense.empty() ||
        decision.body != 0 || decision.has_other_total || question.pending.key_words == 0)
        return false;
    const bool is_written_best = decision.by == By::unchanged && std::isfinite(decision.chosen_ns);
    if (!is_new_choice(decision.by) && !is_written_best) return false;
    Leaders leaders = leaders_of(decision, question.predicted(), question.shape, Learning::most_leaders);
    if (leaders.launches.size() < 2) return false;
    const std::span<const std::uint64_t> key = question.pending.key_span();
    return learning_.start({&question.plan, {key.begin(), key.end()}},
                           {.kernel = question.kernel.name,
                            .launches = std::move(leaders.launches),
                            .written = leaders.written,
                            .least_gain = least_gain_,
                            .owner = question.owner,
                            .stored_key = question.stored_key});
}

Decision Engine::decide_learning(const Kernel& kernel, const LaunchShape& shape, const Pending& pending,
                                 const RememberedChoice& remembered) {
    const KernelPlan& plan = *pending.plan;
    const std::span<const std::uint64_t> key = pending.key_span();
    Decision decision = plan.recall(remembered);
    // A time that is long because there was more to do tells nothing of the block.
    const auto predict = [&](const CheckedLaunch& launch) {
        const std::shared_ptr<const KnownDevice> device = host_.device(pending.device);
        if (device == nullptr) return launch.predicted_ns;
        const trimtab_image image = image_of(kernel, plan, shape, pending.device, *device);
        const analysis::KernelDescription& description = *plan.description();
        const std::vector<double> data =
            analysis::data_values(description, argument_bytes(description, shape.arguments),
                                  description.counted_extent(shape.written.grid, shape.written.block));
        trimtab_prediction prediction{};
        const auto shared_bytes = static_cast<double>(shape.written.dynamic_shared_bytes);
        const bool is_known = plan.driver()->evaluate(&device->values, &image, data.data(),
                                                      launch.launch.block, shared_bytes, &prediction) == 0;
        return is_known ? prediction.predicted_ns : launch.predicted_ns;
    };
    auto turn = learning_.next({&plan, {key.begin(), key.end()}}, shape.stream.has_value(), predict, store_);
    if (!turn) return decision;
    decision.launch = turn->launch.launch;
    decision.chosen_ns = turn->launch.predicted_ns;
    decision.by = By::learned;
    if (turn->outcome != nullptr) {
        const LearnOutcome& outcome = *turn->outcome;
        const LearnOutcome::Launch& chosen = outcome.launches[outcome.chosen];
        const LearnOutcome::Launch& first = outcome.launches.front();
        decision.awaits_check = false;
        decision.reason =
            chosen.times > 0 && first.times > 0
                ? fmt::format("timed: {:.2f} us, and {:.2f} us of what is predicted fastest, in {} launches",
                              chosen.measured_ns / 1e3, first.measured_ns / 1e3, outcome.launched)
                : fmt::format("not timed: {}", outcome.why);
        if (chosen.times == 0) decision.by = static_cast<By>(remembered.by);
        plan.remember(key, pending.key_hash, decision);
        decision.remembered = !turn->is_first;
    } else {
        decision.reason = "one of the launches predicted fastest, which are timed one after another";
    }
    decision.turn = std::move(turn);
    return decision;
}

}  // namespace trimtab::choosing
