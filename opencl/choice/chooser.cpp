#include "opencl/choice/chooser.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <chrono>
#include <cstdlib>
#include <exception>

#include "analysis/legal_blocks.h"
#include "choosing/choices/other_totals.h"
#include "choosing/modules/module_preparation.h"

namespace trimtab::opencl {

using choosing::By;
using choosing::Decision;
using choosing::KernelPlan;
using choosing::LaunchShape;
using choosing::Mode;

namespace {

std::uint64_t build_of(const KernelPlan& plan, const trimtab_device& device, const trimtab_image& image,
                       double least_gain) {
    return plan.build_hash() ^ XXH3_64bits(&device, sizeof device) ^
           XXH3_64bits_withSeed(&image, sizeof image, 1) ^
           XXH3_64bits_withSeed(&least_gain, sizeof least_gain, 2);
}

double unix_time_s() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

Chooser& Chooser::instance() {
    static Chooser& chooser = *[] {
        auto* made =
            new Chooser(choosing::read_settings([](const char* name) { return secure_getenv(name); }));
        static_cast<void>(std::atexit([] {
            Chooser& ending = instance();
            ending.store_.flush();
            if (const std::string totals = ending.totals_.text(); !totals.empty())
                ending.log_.summary(totals);
        }));
        return made;
    }();
    return chooser;
}

Chooser::Chooser(choosing::ReadSettings read)
    : settings_(std::move(read.settings)),
      log_(settings_.log),
      report_(settings_.report_path, log_),
      tells_(report_.is_open() || log_.wants(choosing::LogLevel::summary)),
      store_(settings_.choices_path, log_),
      bundles_(log_),
      modules_(settings_, bundles_, log_, choosing::ModuleCache(choosing::ModuleCache::default_folder()),
               [waits = settings_.modules == choosing::ModulesMode::wait](const std::string& source,
                                                                          const std::string& annotations) {
                   return choosing::start_preparation(source, annotations, waits);
               },
               {}) {
    for (const std::string& warning : read.warnings) log_.warn(warning);
    for (const std::string& warning : choosing::unknown_variables(environ)) log_.warn(warning);
}

choosing::PreparedModule* Chooser::module_of(const char* ptx) {
    return is_active() && modules_.is_on() ? modules_.registered(ptx) : nullptr;
}

ChosenKernel& Chooser::kernel_of(choosing::PreparedModule* module, const std::string& name) {
    const std::lock_guard lock(kernels_mutex_);
    auto& kernel = kernels_[{module, name}];
    if (kernel == nullptr) kernel = std::make_unique<ChosenKernel>(name, module);
    return *kernel;
}

bool Chooser::make_key(const KernelPlan& plan, const LaunchShape& shape, std::uint32_t device, Key& key) {
    key.count = plan.key().words();
    if (key.count == 0 || (shape.arguments == nullptr && plan.key().reads_arguments())) {
        key.count = 0;
        return false;
    }
    plan.key().write(shape, device, key.words);
    key.hash = choosing::ChoiceMemory::hash(key.span());
    return true;
}

bool Chooser::recall(ChosenKernel& kernel, const LaunchShape& shape, std::uint32_t device,
                     choosing::RememberedChoice& choice, bool& is_changed) noexcept {
    if (tells_ || settings_.mode != Mode::on) return false;
    const KernelPlan* plan = kernel.plan_.load(std::memory_order_acquire);
    if (plan == nullptr) return false;
    if (plan->driver() == nullptr) {
        if (kernel.awaits_module_.load(std::memory_order_relaxed)) plan = look_again(kernel, plan);
        if (plan == nullptr || plan->driver() != nullptr) return false;
        is_changed = false;
        return true;
    }
    Key key;
    if (!make_key(*plan, shape, device, key) || !plan->memory().find(key.span(), key.hash, choice, false))
        return false;
    is_changed = !choosing::is_written(shape, choice.grid, choice.block, choice.dynamic_shared_bytes);
    return true;
}

const KernelPlan* Chooser::look_again(ChosenKernel& kernel, const KernelPlan* plan) noexcept {
    try {
        if (kernel.module_ == nullptr || !modules_.look_again(*kernel.module_)) return plan;
        const std::lock_guard lock(plans_mutex_);
        // Another thread may have made the new plan already.
        if (kernel.plan_.load(std::memory_order_relaxed) == plan) {
            kernel.awaits_module_.store(false, std::memory_order_relaxed);
            kernel.plan_.store(nullptr, std::memory_order_release);
        }
        return kernel.plan_.load(std::memory_order_relaxed);
    } catch (const std::exception&) {
        return plan;
    }
}

const KernelPlan& Chooser::plan_of(ChosenKernel& kernel) {
    const KernelPlan* known = kernel.plan_.load(std::memory_order_acquire);
    if (known != nullptr && known->driver() == nullptr &&
        kernel.awaits_module_.load(std::memory_order_relaxed))
        known = look_again(kernel, known);
    if (known != nullptr) return *known;
    choosing::Bundles::Found found;
    bool may_come = false;
    if (kernel.module_ == nullptr) {
        found.reason = "its program's code is not looked at";
    } else {
        auto looked_up = modules_.find(*kernel.module_, kernel.name_);  // may wait: without the lock
        found = std::move(looked_up.kernel);
        may_come = looked_up.may_come;
    }
    const std::lock_guard lock(plans_mutex_);
    if (const KernelPlan* other = kernel.plan_.load(std::memory_order_acquire)) return *other;
    const bool is_summed = found.kernel != nullptr && found.kernel->description.may_reassociate &&
                           found.kernel->description.verdict != analysis::Verdict::annotated;
    const KernelPlan& made = plans_.emplace_back(std::move(found));
    const KernelPlan& plan =
        is_summed && !settings_.reassociate
            ? plans_.emplace_back(made.without_driver(
                  "its floating-point sums would be grouped otherwise, which TRIMTAB_REASSOCIATE=0 forbids"))
            : made;
    if (is_summed && plan.driver() != nullptr)
        log_.info(
            fmt::format("{}: floating-point sums may be grouped otherwise in other blocks", kernel.name_));
    if (plan.driver() == nullptr)
        log_.debug(fmt::format("{} is launched as written: {}", kernel.name_, plan.left_alone()));
    kernel.awaits_module_.store(may_come, std::memory_order_relaxed);
    kernel.plan_.store(&plan, std::memory_order_release);
    return plan;
}

trimtab_image Chooser::image_of(const KernelPlan& plan, const ChoiceDevice& device) {
    return plan.image(device.ordinal, [&] {
        return analysis::to_driver_image(
            analysis::image_for(*plan.description(), device.values.compute_capability));
    });
}

Decision Chooser::decide_new(ChosenKernel& kernel, const KernelPlan& plan, const Key& key,
                             const LaunchShape& shape, const ChoiceDevice& device) {
    const trimtab_image image = image_of(plan, device);
    const bool keeps = store_.is_on() && key.count > 0;
    choosing::ChoiceOwner owner;
    std::vector<std::uint64_t> portable;
    if (keeps) {
        owner = {.kernel = plan.description()->id,
                 .device = device.name,
                 .build = build_of(plan, device.values, image, settings_.least_gain)};
        portable.assign(key.span().begin(), key.span().end());
        plan.key().make_portable(portable);
        if (const auto stored = store_.find(owner, portable)) {
            if (auto decision =
                    choosing::as_stored(*plan.description(), device.values, image, shape, *stored)) {
                plan.remember(key.span(), key.hash, *decision);
                return *decision;
            }
        }
    }
    Decision decision =
        choosing::with_best_total(choosing::choose(*plan.description(), *plan.driver(), device.values, image,
                                                   shape, settings_.least_gain),
                                  *plan.description(), *plan.driver(), device.values, image, shape);
    if (!decision.nonsense.empty()) {
        log_.warn_once(fmt::format("{}: {}: it is launched as written", kernel.name_, decision.nonsense));
        const std::lock_guard lock(plans_mutex_);
        if (kernel.plan_.load(std::memory_order_acquire) == &plan)
            kernel.plan_.store(&plans_.emplace_back(plan.without_driver(decision.nonsense)),
                               std::memory_order_release);
        return decision;
    }
    if (keeps && choosing::is_new_choice(decision.by))
        store_.add(owner, portable,
                   {.block = decision.block,
                    .grid = decision.has_other_total ? decision.grid : trimtab_dim3{},
                    .body = {},
                    .written_ns = decision.written_ns,
                    .chosen_ns = decision.chosen_ns});
    if (key.count > 0) plan.remember(key.span(), key.hash, decision);
    return decision;
}

Decision Chooser::decide_whole(ChosenKernel& kernel, const LaunchShape& shape, const ChoiceDevice& device,
                               const char* keep, const KernelPlan*& plan) {
    if (settings_.mode == Mode::off) return choosing::as_written(shape, "TRIMTAB=off");
    if (keep != nullptr) return choosing::as_written(shape, keep);
    const KernelPlan& its = plan_of(kernel);
    plan = &its;
    if (its.driver() == nullptr) return choosing::as_written(shape, its.left_alone());
    Key key;
    choosing::RememberedChoice remembered;
    if (make_key(its, shape, device.ordinal, key) &&
        its.memory().find(key.span(), key.hash, remembered, true))
        return its.recall(remembered);
    return decide_new(kernel, its, key, shape, device);
}

Decision Chooser::decide(ChosenKernel& kernel, const LaunchShape& shape, const ChoiceDevice& device,
                         const char* keep, bool is_open) noexcept {
    const KernelPlan* plan = nullptr;
    Decision decision;
    decision.grid = shape.grid;
    decision.block = shape.block;
    decision.dynamic_shared_bytes = shape.dynamic_shared_bytes;
    try {
        decision = decide_whole(kernel, shape, device, keep, plan);
    } catch (const std::exception&) {
        return decision;  // Out of memory at worst: the launch as written needs nothing of ours.
    }
    if (tells_) tell(kernel, plan, shape, device, decision, is_open);
    if (settings_.mode != Mode::on) {
        decision.grid = shape.grid;
        decision.block = shape.block;
        decision.by = By::unchanged;
    }
    return decision;
}

void Chooser::give_up(ChosenKernel& kernel, const LaunchShape& shape, std::uint32_t device,
                      const std::string& error) noexcept {
    try {
        std::string reason = fmt::format("the chosen work-group failed to launch: {}", error);
        log_.warn_once(fmt::format("{}: {}; it is launched as written", kernel.name_, reason));
        const KernelPlan* plan = kernel.plan_.load(std::memory_order_acquire);
        Key key;
        if (plan != nullptr && plan->driver() != nullptr && make_key(*plan, shape, device, key))
            plan->remember(key.span(), key.hash, choosing::as_written(shape, std::move(reason)));
    } catch (const std::exception&) {
        return;  // Out of memory: nothing is remembered, and the next launch tries again.
    }
}

void Chooser::tell(const ChosenKernel& kernel, const KernelPlan* plan, const LaunchShape& shape,
                   const ChoiceDevice& device, const Decision& decision, bool is_open) noexcept {
    try {
        choosing::LaunchRecord record{.kernel = kernel.name_,
                                      .device = device.name,
                                      .description = plan == nullptr ? nullptr : plan->description(),
                                      .shape = shape,
                                      .decision = decision,
                                      .unix_time_s = unix_time_s(),
                                      .blocks = {},
                                      .body = {}};
        if (settings_.report_blocks && report_.is_open() && !decision.remembered &&
            is_new_choice(decision.by) && plan != nullptr && plan->driver() != nullptr)
            record.blocks = choosing::predict_all(*record.description, *plan->driver(), device.values,
                                                  image_of(*plan, device), shape);
        if (is_open) record.decision.reason.insert(0, "the program leaves the work-group's size open; ");
        if (settings_.mode == Mode::observe && decision.by != By::unchanged) {
            record.decision.by = By::unchanged;
            record.decision.reason = "TRIMTAB=observe: launched as written";
        }
        report_.add(record);
        const bool is_changed =
            settings_.mode == Mode::on &&
            !choosing::is_written(shape, decision.grid, decision.block, decision.dynamic_shared_bytes);
        totals_.add(record.kernel, record.decision, is_changed);
        if (log_.wants(choosing::LogLevel::info)) log_.info(choosing::log_line(record));
    } catch (const std::exception&) {
        return;  // A line less in the log is no reason to fail a launch.
    }
}

}  // namespace trimtab::opencl
