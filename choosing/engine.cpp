// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/engine.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "choosing/choices/doubt_text.h"
#include "choosing/choices/other_totals.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/model/occupancy.h"

namespace trimtab::choosing {

namespace {

double unix_time_s() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

std::uint64_t build_of(const KernelPlan& plan, const trimtab_device& device, const trimtab_image& image,
                       double least_gain, std::uint64_t checked_leaders) {
    // Choices that were checked or timed are others than those that were not.
    return checked_leaders * 0x9e3779b97f4a7c15u ^ plan.build_hash() ^ XXH3_64bits(&device, sizeof device) ^
           XXH3_64bits_withSeed(&image, sizeof image, 1) ^
           XXH3_64bits_withSeed(&least_gain, sizeof least_gain, 2);
}

}  // namespace

Engine::Engine(const Settings& settings, Parts parts)
    : mode_(settings.mode),
      may_reassociate_(settings.reassociate),
      least_gain_(settings.least_gain),
      reports_blocks_(settings.report_blocks && parts.report.is_open()),
      repeats_(parts.repeats),
      tells_(parts.report.is_open() || parts.log.wants(LogLevel::summary) || parts.repeats),
      host_(parts.host),
      modules_(parts.modules),
      report_(parts.report),
      log_(parts.log),
      store_(settings.choices_path, parts.log),
      crosscheck_(settings.crosscheck, parts.log, std::move(parts.load_emulation)),
      learning_(settings.learn, parts.clock, parts.log) {}

Bundles::Found Engine::find_driver(Kernel& kernel, bool& may_come) {
    Host::Own own = host_.own(kernel);
    if (own.found.bundle != nullptr && !is_annotated_beside(kernel, own.found)) return std::move(own.found);
    PreparedModule* module = kernel.module.load(std::memory_order_acquire);
    if (module == nullptr) {
        // A program of another compiler's, or a kernel with an annotation that came after it was compiled: as
        // if it were loaded while the program runs.
        if (own.code != nullptr && modules_ != nullptr && modules_->is_on())
            module = modules_->registered(own.code);
        if (module == nullptr) return std::move(own.found);
        kernel.module.store(module, std::memory_order_release);
    }
    auto answer = modules_->find(*module, kernel.name);  // may wait
    may_come = answer.may_come;
    const bool has_own = own.found.kernel != nullptr && own.found.kernel->driver != nullptr;
    return has_own && !may_come && answer.kernel.kernel == nullptr ? std::move(own.found)
                                                                   : std::move(answer.kernel);
}

// Has TRIMTAB_ANNOTATIONS an annotation for it, and its source none?
bool Engine::is_annotated_beside(const Kernel& kernel, const Bundles::Found& found) const {
    return modules_ != nullptr && modules_->annotates(kernel.name) &&
           (found.kernel == nullptr || found.kernel->description.verdict != analysis::Verdict::annotated);
}

const KernelPlan& Engine::plan_of(Kernel& kernel) {
    const KernelPlan* known = kernel.plan.load(std::memory_order_acquire);
    if (known != nullptr && known->driver() == nullptr &&
        kernel.awaits_module.load(std::memory_order_relaxed))
        known = look_again(kernel, known);
    if (known != nullptr) return *known;
    bool may_come = false;
    Bundles::Found found = find_driver(kernel, may_come);
    const std::lock_guard lock(plans_mutex_);
    if (const KernelPlan* other = kernel.plan.load(std::memory_order_acquire)) return *other;
    std::vector<Kernel*> bodies;
    std::erase_if(found.bodies, [&](const std::shared_ptr<const BundledKernel>& body) {
        Kernel* neighbour = host_.neighbour(kernel, body->description.name);
        if (neighbour != nullptr)
            bodies.push_back(neighbour);
        else
            log_.debug(fmt::format("{}: its other body {} cannot be launched here", kernel.name,
                                   body->description.name));
        return neighbour == nullptr;
    });
    const BundledKernel* const judged = found.stand_in != nullptr ? found.stand_in.get() : found.kernel.get();
    const bool is_summed = judged != nullptr && judged->description.may_reassociate &&
                           judged->description.verdict != analysis::Verdict::annotated;
    Kernel* const stand_in =
        found.stand_in == nullptr ? nullptr : host_.neighbour(kernel, found.stand_in->description.name);
    const KernelPlan& made = stand_in != nullptr ? plans_.emplace_back(std::move(found), *stand_in)
                                                 : plans_.emplace_back(std::move(found), std::move(bodies));
    const KernelPlan& plan =
        is_summed && !may_reassociate_
            ? plans_.emplace_back(made.without_driver(
                  "another block would regroup its floating-point sums, which TRIMTAB_REASSOCIATE=0 forbids"))
            : made;
    if (is_summed && plan.driver() != nullptr)
        log_.info(fmt::format("{}: other blocks may regroup floating-point sums", kernel.name));
    if (plan.driver() == nullptr)
        log_.debug(fmt::format("{} is launched as written: {}", kernel.name, plan.left_alone()));
    kernel.awaits_module.store(may_come, std::memory_order_relaxed);
    kernel.plan.store(&plan, std::memory_order_release);
    return plan;
}

const KernelPlan* Engine::look_again(Kernel& kernel, const KernelPlan* plan) noexcept {
    try {
        PreparedModule* module = kernel.module.load(std::memory_order_acquire);
        if (module == nullptr || !modules_->look_again(*module)) return plan;
        const std::lock_guard lock(plans_mutex_);
        // Another thread may have made the new plan already.
        if (kernel.plan.load(std::memory_order_relaxed) == plan) {
            kernel.awaits_module.store(false, std::memory_order_relaxed);
            kernel.plan.store(nullptr, std::memory_order_release);
        }
        return kernel.plan.load(std::memory_order_relaxed);
    } catch (const std::exception&) {
        return plan;
    }
}

trimtab_image Engine::image_of(const Kernel& kernel, const KernelPlan& plan, const LaunchShape& shape,
                               std::uint32_t ordinal, const KnownDevice& device) {
    return plan.image(ordinal, [&] {
        trimtab_image image =
            model::with_addressable_registers(analysis::to_driver_image(analysis::image_for(
                                                  *plan.description(), device.values.compute_capability)),
                                              device.values);
        host_.correct(image, plan.stand_in() != nullptr ? *plan.stand_in() : kernel, shape);
        return image;
    });
}

LaunchShape Engine::with_shared_limit(const Kernel& kernel, const KernelPlan& plan, LaunchShape shape,
                                      bool may_be_supposed) {
    if (!plan.description()->annotated_shared && !may_be_supposed) return shape;
    if (const std::uint64_t most =
            host_.max_dynamic_shared_bytes(plan.stand_in() != nullptr ? *plan.stand_in() : kernel, shape);
        most != 0)
        shape.max_dynamic_shared_bytes = most;
    return shape;
}

std::vector<OtherBody> Engine::other_bodies(const KernelPlan& plan, std::uint32_t ordinal,
                                            const KnownDevice& device) {
    std::vector<OtherBody> bodies;
    // Its launches are the plan's own.
    if (plan.stand_in() != nullptr) return bodies;
    for (Kernel* kernel : plan.bodies()) {
        const KernelPlan& its = plan_of(*kernel);
        OtherBody& body = bodies.emplace_back();
        body.description = its.description();
        body.driver = its.driver();
        // Its bundle has gone, or its driver program talks nonsense: the place stays, and nothing is offered.
        if (body.driver == nullptr) continue;
        body.image = image_of(*kernel, its, {}, ordinal, device);
        if (body.description->annotated_shared)
            body.max_dynamic_shared_bytes = with_shared_limit(*kernel, its, {}).max_dynamic_shared_bytes;
    }
    return bodies;
}

std::optional<Decision> Engine::kept_choice(const Question& question) {
    const auto stored = store_.find(question.owner, question.stored_key);
    if (!stored) return std::nullopt;
    return as_stored(*question.plan.description(), question.device->values, question.image, question.shape,
                     *stored, question.bodies);
}

Decision Engine::choose_new(const Question& question) const {
    const PredictedKernel kernel = question.predicted();
    Decision decision =
        with_best_total(choose(kernel, question.shape, least_gain_), kernel, question.shape, least_gain_);
    if (const std::string advice = doubt_advice(decision.doubt); host_.can_profile() && !advice.empty())
        decision.reason += "; " + advice;
    return with_best_body(std::move(decision), kernel.description, question.bodies, kernel.device,
                          question.shape, least_gain_);
}

Decision Engine::decide_new(Kernel& kernel, const LaunchShape& as_launched, const Pending& pending) {
    const KernelPlan& plan = *pending.plan;
    const LaunchShape shape = with_shared_limit(kernel, plan, as_launched);
    std::shared_ptr<const KnownDevice> device = host_.device(pending.device);
    if (device == nullptr) return as_written(shape, "the device cannot be described");
    Question question{.kernel = kernel,
                      .plan = plan,
                      .pending = pending,
                      .shape = shape,
                      .device = std::move(device),
                      .bodies = {},
                      .owner = {},
                      .stored_key = {}};
    question.image = image_of(kernel, plan, shape, pending.device, *question.device);
    question.bodies = other_bodies(plan, pending.device, *question.device);
    const bool keeps = store_.is_on() && pending.key_words > 0;
    if (keeps) {
        question.owner = {.kernel = plan.description()->id,
                          .device = question.device->name,
                          .build = build_of(plan, question.device->values, question.image, least_gain_,
                                            learning_.is_on() ? ~std::uint64_t{0} : crosscheck_.leaders())};
        question.stored_key.assign(pending.key_span().begin(), pending.key_span().end());
        plan.key().make_portable(question.stored_key);
        if (auto decision = kept_choice(question)) {
            plan.remember(pending.key_span(), pending.key_hash, *decision);
            return *std::move(decision);
        }
    }
    Decision decision = choose_new(question);
    // What is timed needs no emulation.
    const bool is_learnt = start_learning(question, decision);
    const bool is_checked = !is_learnt && start_check(question, decision);
    decision.awaits_check = is_learnt || (is_checked && crosscheck_.changes_this_process());
    // One that is checked or timed is kept when that is over.
    if (keeps && is_new_choice(decision.by) && !is_checked && !is_learnt)
        store_.add(
            question.owner, question.stored_key,
            {.block = decision.launch.block,
             .grid = decision.has_other_total ? decision.launch.grid : trimtab_dim3{},
             .body = decision.body == 0 ? std::string() : question.bodies[decision.body - 1].description->id,
             .written_ns = decision.written_ns,
             .chosen_ns = decision.chosen_ns});
    if (!decision.nonsense.empty()) {
        distrust(kernel, plan, decision.nonsense);
    } else if (pending.key_words > 0)
        plan.remember(pending.key_span(), pending.key_hash, decision);
    return decision;
}

void Engine::distrust(Kernel& kernel, const KernelPlan& plan, const std::string& nonsense) {
    log_.warn_once(fmt::format("{}: {}: it is launched as written", kernel.name, nonsense));
    const std::lock_guard lock(plans_mutex_);
    if (kernel.plan.load(std::memory_order_acquire) != &plan)
        return;  // another thread's doing, or a new bundle
    kernel.plan.store(&plans_.emplace_back(plan.without_driver(nonsense)), std::memory_order_release);
}

Decision Engine::decide_whole(Kernel& kernel, const LaunchShape& shape, const char* keep,
                              Pending& pending) noexcept {
    try {
        if (mode_ == Mode::off) return as_written(shape, "TRIMTAB=off");
        const KernelPlan& plan = plan_of(kernel);
        pending.plan = &plan;
        if (keep != nullptr) return as_written(shape, keep);
        if (plan.driver() == nullptr) return as_written(shape, plan.left_alone());
        RememberedChoice remembered;
        if (find(plan, shape, pending, remembered, true))
            return !remembered.awaits_check ? plan.recall(remembered)
                   : learning_.is_on()      ? decide_learning(kernel, shape, pending, remembered)
                                            : decide_awaiting(pending, remembered);
        return decide_new(kernel, shape, pending);
    } catch (const std::exception& error) {
        // Out of memory at worst: the launch as written needs nothing of ours.
        Decision decision;
        decision.launch = shape.written;
        try {
            decision.reason = fmt::format("the choice failed: {}", error.what());
        } catch (...) {
            decision.reason.clear();
        }
        return decision;
    }
}

Decision Engine::decide(Kernel& kernel, const LaunchShape& shape, std::uint32_t device, const char* keep,
                        Pending& pending, std::string_view remark) noexcept {
    pending.plan = nullptr;  // an earlier launch's, if any
    pending.device = device;
    Decision decision = decide_whole(kernel, shape, keep, pending);
    // The only body of its plan.
    if (pending.plan != nullptr && pending.plan->stand_in() != nullptr && !is_written(shape, decision.launch))
        decision.body = 1;
    tell(kernel, shape, pending, decision, remark);
    return decision;
}

void Engine::give_up(const Kernel& kernel, const LaunchShape& shape, const Pending& pending,
                     std::string_view error) noexcept {
    try {
        std::string reason = fmt::format("the chosen {} failed to launch: {}", host_.word_for_block(), error);
        log_.warn_once(fmt::format("{}: {}; it is launched as written", kernel.name, reason));
        if (pending.plan != nullptr && pending.key_words > 0)
            pending.plan->remember(pending.key_span(), pending.key_hash,
                                   as_written(shape, std::move(reason)));
    } catch (const std::exception&) {
        return;  // Out of memory: nothing is remembered, and the next launch tries again.
    }
}

void Engine::finish() {
    learning_.finish(store_);
    crosscheck_.finish(store_);
    store_.flush();
    if (const std::string totals = totals_.text(); !totals.empty()) log_.summary(totals);
}

void Engine::tell(const Kernel& kernel, const LaunchShape& shape, const Pending& pending,
                  const Decision& decision, std::string_view remark) noexcept {
    if (!report_.is_open() && !log_.wants(LogLevel::summary)) return;
    try {
        const std::shared_ptr<const KnownDevice> device = host_.device(pending.device);
        LaunchRecord record{.kernel = kernel.name,
                            .device = device == nullptr ? "unknown" : device->name,
                            .description = pending.plan == nullptr ? nullptr : pending.plan->description(),
                            .shape = shape,
                            .decision = decision,
                            .unix_time_s = unix_time_s(),
                            .blocks = {},
                            .body = {}};
        if (pending.plan != nullptr && decision.body != 0)
            if (const Kernel* body = pending.plan->body(decision.body)) record.body = body->name;
        if (reports_blocks_ && device != nullptr && !decision.remembered && is_new_choice(decision.by) &&
            pending.plan->driver() != nullptr)
            record.blocks = predict_all({*record.description, *pending.plan->driver(), device->values,
                                         image_of(kernel, *pending.plan, shape, pending.device, *device)},
                                        shape);
        record.decision.reason.insert(0, remark);
        if (mode_ == Mode::observe && decision.by != By::unchanged) {
            record.decision.by = By::unchanged;
            record.decision.reason = "TRIMTAB=observe: launched as written";
        }
        report_.add(record);
        const Decision& told = record.decision;
        const bool is_changed = mode_ == Mode::on && (told.body != 0 || !is_written(shape, told.launch));
        totals_.add(record.kernel, told, is_changed);
        if (log_.wants(LogLevel::info)) log_.info(log_line(record));
    } catch (const std::exception&) {
        return;  // A line less in the log is no reason to fail a launch.
    }
}

}  // namespace trimtab::choosing
