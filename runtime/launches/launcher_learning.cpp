// Launches of choices that are being learnt (TRIMTAB_LEARN=1).
#include <fmt/format.h>

#include "choosing/choices/argument_key.h"
#include "choosing/choices/leaders.h"
#include "runtime/launches/launcher.h"

namespace trimtab::runtime {

bool Launcher::start_learning(const RegisteredKernel& kernel, const choosing::LaunchShape& shape,
                              const Pending& pending, const choosing::Decision& decision,
                              const choosing::KnownDevice& device, const trimtab_image& image,
                              const choosing::ChoiceOwner& owner,
                              const std::vector<std::uint64_t>& stored_key) {
    // Other bodies and other totals are not what the driver program's leaders are. A launch that is observed alone,
    // verified or varied goes out as written.
    if (!learning_.is_on() || mode_ != choosing::Mode::on || verification_.is_on() || suggestion_.is_on() ||
        !decision.nonsense.empty() || decision.body != 0 || decision.has_other_total ||
        pending.key_words == 0)
        return false;
    const bool is_written_best = decision.by == choosing::By::unchanged && std::isfinite(decision.chosen_ns);
    if (!is_new_choice(decision.by) && !is_written_best) return false;
    const analysis::KernelDescription& description = *pending.plan->description();
    choosing::Leaders leaders = leaders_of(decision, description, *pending.plan->driver(), device.values,
                                           image, shape, choosing::Learning::most_leaders);
    if (leaders.launches.size() < 2) return false;
    return learning_.start(
        {pending.plan,
         {pending.key.begin(), pending.key.begin() + static_cast<std::ptrdiff_t>(pending.key_words)}},
        {.kernel = kernel.name,
         .launches = std::move(leaders.launches),
         .written = leaders.written,
         .least_gain = least_gain_,
         .owner = owner,
         .stored_key = stored_key});
}

choosing::Decision Launcher::decide_learning(const RegisteredKernel& kernel,
                                             const choosing::LaunchShape& shape, const Pending& pending,
                                             const choosing::RememberedChoice& remembered) {
    const choosing::KernelPlan& plan = *pending.plan;
    const std::span<const std::uint64_t> key(pending.key.data(), pending.key_words);
    choosing::Decision decision = plan.recall(remembered);
    // A time that is long because there was more to do tells nothing of the block.
    const auto predict = [&](const choosing::CheckedLaunch& launch) {
        const std::uint32_t ordinal = devices_.current();
        const std::shared_ptr<const choosing::KnownDevice> device = devices_.device(ordinal);
        if (device == nullptr) return launch.predicted_ns;
        const trimtab_image image = image_of(kernel, plan, shape, ordinal, *device);
        const analysis::KernelDescription& description = *plan.description();
        const std::vector<double> data =
            analysis::data_values(description, choosing::argument_bytes(description, shape.arguments),
                                  description.counted_extent(shape.grid, shape.block));
        trimtab_prediction prediction{};
        const auto shared_bytes = static_cast<double>(shape.dynamic_shared_bytes);
        const bool is_known = plan.driver()->evaluate(&device->values, &image, data.data(),
                                                      launch.launch.block, shared_bytes, &prediction) == 0;
        return is_known ? prediction.predicted_ns : launch.predicted_ns;
    };
    auto turn = learning_.next({&plan, {key.begin(), key.end()}}, shape.stream.has_value(), predict, store_);
    if (!turn) return decision;
    decision.grid = turn->launch.launch.grid;
    decision.block = turn->launch.launch.block;
    decision.dynamic_shared_bytes = turn->launch.launch.dynamic_shared_bytes;
    decision.chosen_ns = turn->launch.predicted_ns;
    decision.by = choosing::By::learned;
    if (turn->outcome != nullptr) {
        const choosing::LearnOutcome& outcome = *turn->outcome;
        const choosing::LearnOutcome::Launch& chosen = outcome.launches[outcome.chosen];
        const choosing::LearnOutcome::Launch& first = outcome.launches.front();
        decision.awaits_check = false;
        decision.reason =
            chosen.times > 0 && first.times > 0
                ? fmt::format("timed: {:.2f} us, and {:.2f} us of what is predicted fastest, in {} launches",
                              chosen.measured_ns / 1e3, first.measured_ns / 1e3, outcome.launched)
                : fmt::format("not timed: {}", outcome.why);
        if (chosen.times == 0) decision.by = static_cast<choosing::By>(remembered.by);
        plan.remember(key, pending.key_hash, decision);
        decision.remembered = !turn->is_first;
    } else {
        decision.reason = "one of the launches predicted fastest, which are timed in turn";
    }
    decision.turn = std::move(turn);
    return decision;
}

}  // namespace trimtab::runtime
