#include "runtime/launches/launcher.h"

#define XXH_INLINE_ALL
#include <dlfcn.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "analysis/legal_blocks.h"
#include "choosing/choices/argument_key.h"
#include "choosing/choices/leaders.h"
#include "choosing/choices/other_totals.h"
#include "choosing/crosscheck/moved_pointers.h"
#include "choosing/modules/module_image.h"
#include "ptx/binary.h"
#include "runtime/relaxed_capture.h"

namespace trimtab::runtime {

namespace {

double unix_time_s() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

std::uint64_t build_of(const choosing::KernelPlan& plan, const trimtab_device& device,
                       const trimtab_image& image, double least_gain, std::uint64_t checked_leaders) {
    // Choices that were checked or timed are others than those that were not.
    return checked_leaders * 0x9e3779b97f4a7c15u ^ plan.build_hash() ^ XXH3_64bits(&device, sizeof device) ^
           XXH3_64bits_withSeed(&image, sizeof image, 1) ^
           XXH3_64bits_withSeed(&least_gain, sizeof least_gain, 2);
}

}  // namespace

Launcher::Launcher(const choosing::Settings& settings, const BackendCalls& calls, choosing::Bundles& bundles,
                   choosing::Report& report, choosing::Log& log, RunTimeModules* modules,
                   choosing::CrossCheck::Load load_emulation)
    : mode_(settings.mode),
      may_reassociate_(settings.reassociate),
      least_gain_(settings.least_gain),
      store_(settings.choices_path, log),
      crosscheck_(settings.crosscheck, log, std::move(load_emulation)),
      events_(calls),
      learning_(settings.learn, &events_, log),
      verification_(settings.verify, calls, log),
      suggestion_(settings.suggest, calls, log),
      block_times_(settings.bench, calls, log),
      reports_blocks_(settings.report_blocks && report.is_open()),
      tells_(report.is_open() || log.wants(choosing::LogLevel::summary) || repeats()),
      calls_(calls),
      bundles_(bundles),
      modules_(modules),
      report_(report),
      log_(log),
      devices_(calls, log) {}

bool Launcher::recall(const choosing::KernelPlan& plan, const choosing::LaunchShape& shape, Pending& pending,
                      choosing::RememberedChoice& choice, bool full) const {
    pending.plan = &plan;
    pending.key_words = plan.key().words();
    if (pending.key_words == 0 || (shape.arguments == nullptr && plan.key().reads_arguments())) {
        pending.key_words = 0;
        return false;
    }
    plan.key().write(shape, devices_.current(), pending.key.data());
    const std::span<const std::uint64_t> key(pending.key.data(), pending.key_words);
    pending.key_hash = choosing::ChoiceMemory::hash(key);
    return plan.memory().find(key, pending.key_hash, choice, full);
}

choosing::Bundles::Found Launcher::find(RegisteredKernel& kernel, bool& may_come) {
    choosing::Bundles::Found found;
    choosing::PreparedModule* module = kernel.module.load(std::memory_order_acquire);
    if (kernel.adopted) return bundles_.find_by_name(kernel.name);
    if (module == nullptr && kernel.fat_binary == nullptr) {
        found.reason = "its fat binary is of an unknown kind";
        return found;
    }
    if (kernel.fat_binary != nullptr) {
        const auto hash = ptx::fat_binary_hash(static_cast<const std::byte*>(kernel.fat_binary));
        if (!hash) {
            found.reason = hash.error().text();
            return found;
        }
        found = bundles_.find(*hash, kernel.name);
        if (found.bundle != nullptr && !is_annotated_beside(kernel, found)) return found;
        if (modules_ == nullptr || !modules_->is_on()) return found;
        // A program of another compiler's, or a kernel with an annotation that came after it was compiled: as
        // if it were loaded while the program runs.
        if (module == nullptr) module = modules_->registered(kernel.fat_binary);
        if (module == nullptr) return found;
        kernel.module.store(module, std::memory_order_release);
    }
    auto answer = modules_->find(*module, kernel.name);
    may_come = answer.may_come;
    const bool has_own = found.kernel != nullptr && found.kernel->driver != nullptr;
    return has_own && !may_come && answer.kernel.kernel == nullptr ? std::move(found)
                                                                   : std::move(answer.kernel);
}

// Has TRIMTAB_ANNOTATIONS an annotation for it, and its source none?
bool Launcher::is_annotated_beside(const RegisteredKernel& kernel,
                                   const choosing::Bundles::Found& found) const {
    return modules_ != nullptr && modules_->annotates(kernel.name) &&
           (found.kernel == nullptr || found.kernel->description.verdict != analysis::Verdict::annotated);
}

const choosing::KernelPlan& Launcher::plan_of(RegisteredKernel& kernel) {
    if (const choosing::KernelPlan* plan = kernel.plan.load(std::memory_order_acquire)) return *plan;
    bool may_come = false;
    choosing::Bundles::Found found = find(kernel, may_come);
    const std::lock_guard lock(plans_mutex_);
    if (const choosing::KernelPlan* plan = kernel.plan.load(std::memory_order_acquire)) return *plan;
    std::vector<choosing::Kernel*> bodies;
    std::erase_if(found.bodies, [&](const std::shared_ptr<const choosing::BundledKernel>& body) {
        RegisteredKernel* neighbour = kernel.neighbour(body->description.name);
        if (neighbour != nullptr) bodies.push_back(neighbour);
        return neighbour == nullptr;
    });
    const choosing::BundledKernel* const judged =
        found.stand_in != nullptr ? found.stand_in.get() : found.kernel.get();
    const bool is_summed = judged != nullptr && judged->description.may_reassociate &&
                           judged->description.verdict != analysis::Verdict::annotated;
    RegisteredKernel* const stand_in =
        found.stand_in == nullptr ? nullptr : kernel.neighbour(found.stand_in->description.name);
    const choosing::KernelPlan& made = stand_in != nullptr
                                           ? plans_.emplace_back(std::move(found), *stand_in)
                                           : plans_.emplace_back(std::move(found), std::move(bodies));
    const choosing::KernelPlan& plan =
        is_summed && !may_reassociate_
            ? plans_.emplace_back(made.without_driver(
                  "its floating-point sums would be grouped otherwise, which TRIMTAB_REASSOCIATE=0 forbids"))
            : made;
    if (is_summed && plan.driver() != nullptr)
        log_.info(
            fmt::format("{}: floating-point sums may be grouped otherwise in other blocks", kernel.name));
    if (plan.driver() == nullptr)
        log_.debug(fmt::format("{} is launched as written: {}", kernel.name, plan.left_alone()));
    kernel.awaits_module.store(may_come, std::memory_order_relaxed);
    kernel.plan.store(&plan, std::memory_order_release);
    return plan;
}

const choosing::KernelPlan* Launcher::look_again(RegisteredKernel& kernel,
                                                 const choosing::KernelPlan* plan) noexcept {
    try {
        choosing::PreparedModule* module = kernel.module.load(std::memory_order_acquire);
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

const analysis::KernelDescription* Launcher::description_of(RegisteredKernel& kernel) noexcept {
    try {
        return plan_of(kernel).description();
    } catch (const std::exception&) {
        return nullptr;
    }
}

bool Launcher::may_change(RegisteredKernel& kernel) noexcept {
    try {
        return is_active() && (tells_ || plan_of(kernel).driver() != nullptr);
    } catch (const std::exception&) {
        return false;
    }
}

// Both interfaces number their errors alike; the driver calls every bad argument CUDA_ERROR_INVALID_VALUE.
bool Launcher::is_of_configuration(cudaError_t status) {
    switch (status) {
        case cudaErrorInvalidValue:
        case cudaErrorInvalidConfiguration:
        case cudaErrorLaunchOutOfResources:
        case cudaErrorGraphExecUpdateFailure:  // of a graph's node
            return true;
        default:
            return false;
    }
}

bool Launcher::is_lasting(cudaError_t status) {
    switch (status) {
        case cudaErrorECCUncorrectable:
        case cudaErrorNvlinkUncorrectable:
        case cudaErrorContained:
        case cudaErrorIllegalAddress:
        case cudaErrorLaunchTimeout:
        case cudaErrorAssert:
        case cudaErrorHardwareStackError:
        case cudaErrorIllegalInstruction:
        case cudaErrorMisalignedAddress:
        case cudaErrorInvalidAddressSpace:
        case cudaErrorInvalidPc:
        case cudaErrorLaunchFailure:
        case cudaErrorTensorMemoryLeak:
            return true;
        default:
            return false;
    }
}

std::vector<LaunchToVerify::Relative> Launcher::relatives_of(RegisteredKernel& kernel, std::uint32_t ordinal,
                                                             const choosing::KnownDevice& device) {
    std::vector<LaunchToVerify::Relative> relatives;
    if (kernel.fat_binary == nullptr) return relatives;
    const auto hash = ptx::fat_binary_hash(static_cast<const std::byte*>(kernel.fat_binary));
    if (!hash) return relatives;
    for (auto& relative : bundles_.relatives(*hash, kernel.name)) {
        RegisteredKernel* registered = kernel.neighbour(relative->description.name);
        if (registered == nullptr) continue;
        const trimtab_image image = image_of(*registered, plan_of(*registered), {}, ordinal, device);
        relatives.push_back(
            {.kernel = std::move(relative), .image = image, .function = registered->host_function});
    }
    return relatives;
}

choosing::Decision Launcher::decide_new(RegisteredKernel& kernel, const choosing::LaunchShape& as_launched,
                                        Pending& pending) {
    const choosing::KernelPlan& plan = *pending.plan;
    // Another thread may be recording a graph, which what CUDA is asked here must not spoil.
    const RelaxedCapture relaxed(calls_);
    const choosing::LaunchShape shape = with_shared_limit(kernel, plan, as_launched);
    const std::uint32_t ordinal = devices_.current();
    const std::shared_ptr<const choosing::KnownDevice> device = devices_.device(ordinal);
    if (device == nullptr) return as_written(shape, "the device cannot be described");
    const trimtab_image image = image_of(kernel, plan, shape, ordinal, *device);
    const std::vector<choosing::OtherBody> bodies = other_bodies(plan, ordinal, *device);
    const bool keeps = store_.is_on() && pending.key_words > 0;
    choosing::ChoiceOwner owner;
    std::vector<std::uint64_t> key;
    if (keeps) {
        owner = {.kernel = plan.description()->id,
                 .device = device->name,
                 .build = build_of(plan, device->values, image, least_gain_,
                                   learning_.is_on() ? ~std::uint64_t{0} : crosscheck_.leaders())};
        key.assign(pending.key.begin(), pending.key.begin() + static_cast<std::ptrdiff_t>(pending.key_words));
        plan.key().make_portable(key);
        if (const auto stored = store_.find(owner, key)) {
            if (const auto decision =
                    as_stored(*plan.description(), device->values, image, shape, *stored, bodies)) {
                plan.remember({pending.key.data(), pending.key_words}, pending.key_hash, *decision);
                return *decision;
            }
        }
    }
    choosing::Decision decision = with_best_total(
        choose(*plan.description(), *plan.driver(), device->values, image, shape, least_gain_),
        *plan.description(), *plan.driver(), device->values, image, shape);
    decision =
        with_best_body(std::move(decision), *plan.description(), bodies, device->values, shape, least_gain_);
    // What is timed needs no emulation.
    const bool is_learnt = start_learning(kernel, shape, pending, decision, *device, image, owner, key);
    const bool is_checked =
        !is_learnt && start_check(kernel, shape, pending, decision, device, image, owner, key);
    decision.awaits_check = is_learnt || (is_checked && crosscheck_.changes_this_process());
    // One that is checked or timed is kept when that is over.
    if (keeps && is_new_choice(decision.by) && !is_checked && !is_learnt)
        store_.add(owner, key,
                   {.block = decision.block,
                    .grid = decision.has_other_total ? decision.grid : trimtab_dim3{},
                    .body = decision.body == 0 ? std::string() : bodies[decision.body - 1].description->id,
                    .written_ns = decision.written_ns,
                    .chosen_ns = decision.chosen_ns});
    if (!decision.nonsense.empty()) {
        distrust(kernel, plan, decision.nonsense);
    } else if (pending.key_words > 0)
        plan.remember({pending.key.data(), pending.key_words}, pending.key_hash, decision);
    return decision;
}

bool Launcher::start_check(const RegisteredKernel& kernel, const choosing::LaunchShape& shape,
                           const Pending& pending, const choosing::Decision& decision,
                           const std::shared_ptr<const choosing::KnownDevice>& device,
                           const trimtab_image& image, const choosing::ChoiceOwner& owner,
                           const std::vector<std::uint64_t>& stored_key) {
    // Other bodies and other totals are not what the driver program's leaders are. Of a module that the program has
    // loaded while it runs, the code is not kept.
    if (crosscheck_.leaders() == 0 || !is_new_choice(decision.by) || !decision.nonsense.empty() ||
        decision.body != 0 || decision.has_other_total || pending.key_words == 0 ||
        kernel.fat_binary == nullptr || !crosscheck_.wants_more())
        return false;
    const analysis::KernelDescription& description = *pending.plan->description();
    choosing::Leaders leaders = leaders_of(decision, description, *pending.plan->driver(), device->values,
                                           image, shape, crosscheck_.leaders());
    if (leaders.launches.size() < 2) return false;
    const choosing::ModuleImage code = choosing::recognise_module(kernel.fat_binary);
    if (code.kind != choosing::ModuleImage::Kind::fat_binary) return false;
    return crosscheck_.start(
        {pending.plan,
         {pending.key.begin(), pending.key.begin() + static_cast<std::ptrdiff_t>(pending.key_words)}},
        {.kernel = description.name,
         .fat_binary = std::make_shared<const std::vector<std::byte>>(code.bytes.begin(), code.bytes.end()),
         .device = device,
         .image = image,
         .parameters = choosing::with_moved_pointers(description,
                                                     choosing::argument_bytes(description, shape.arguments)),
         .launches = std::move(leaders.launches),
         .written = leaders.written,
         .least_gain = least_gain_,
         .owner = owner,
         .stored_key = stored_key});
}

choosing::Decision Launcher::decide_awaiting(const Pending& pending,
                                             const choosing::RememberedChoice& remembered) {
    const choosing::KernelPlan& plan = *pending.plan;
    const std::span<const std::uint64_t> key(pending.key.data(), pending.key_words);
    choosing::Decision decision = plan.recall(remembered);
    const auto settled = crosscheck_.launched({&plan, {key.begin(), key.end()}});
    if (!settled) return decision;
    decision.awaits_check = false;
    if (const choosing::CheckOutcome* outcome = settled->outcome.get();
        outcome != nullptr && outcome->end == choosing::CheckEnd::changed) {
        const choosing::CheckedLaunch& chosen = outcome->launches[outcome->chosen];
        decision.grid = chosen.launch.grid;
        decision.block = chosen.launch.block;
        decision.dynamic_shared_bytes = chosen.launch.dynamic_shared_bytes;
        decision.chosen_ns = chosen.predicted_ns;
        decision.by = choosing::By::crosscheck;
        decision.reason = outcome->why;
        decision.remembered = false;
    }
    plan.remember(key, pending.key_hash, decision);
    if (settled->is_first) decision.check = settled->outcome;
    return decision;
}

void Launcher::distrust(RegisteredKernel& kernel, const choosing::KernelPlan& plan,
                        const std::string& nonsense) {
    log_.warn_once(fmt::format("{}: {}: it is launched as written", kernel.name, nonsense));
    const std::lock_guard lock(plans_mutex_);
    if (kernel.plan.load(std::memory_order_acquire) != &plan)
        return;  // another thread's doing, or a new bundle
    kernel.plan.store(&plans_.emplace_back(plan.without_driver(nonsense)), std::memory_order_release);
}

choosing::Decision Launcher::decide(RegisteredKernel& kernel, const choosing::LaunchShape& shape,
                                    const char* keep, Pending& pending) noexcept {
    try {
        if (mode_ == choosing::Mode::off) return as_written(shape, "TRIMTAB=off");
        const choosing::KernelPlan& plan = plan_of(kernel);
        pending.plan = &plan;
        if (keep != nullptr) return as_written(shape, keep);
        if (plan.driver() == nullptr) return as_written(shape, plan.left_alone());
        choosing::RememberedChoice remembered;
        if (recall(plan, shape, pending, remembered, true))
            return !remembered.awaits_check ? plan.recall(remembered)
                   : learning_.is_on()      ? decide_learning(kernel, shape, pending, remembered)
                                            : decide_awaiting(pending, remembered);
        return decide_new(kernel, shape, pending);
    } catch (const std::exception& error) {
        // Out of memory at worst: the launch as written needs nothing of ours.
        choosing::Decision decision;
        decision.grid = shape.grid;
        decision.block = shape.block;
        decision.dynamic_shared_bytes = shape.dynamic_shared_bytes;
        try {
            decision.reason = fmt::format("the choice failed: {}", error.what());
        } catch (...) {
            decision.reason.clear();
        }
        return decision;
    }
}

void Launcher::give_up(const RegisteredKernel& kernel, const choosing::LaunchShape& shape,
                       const Pending& pending, cudaError_t status) noexcept {
    try {
        std::string reason =
            fmt::format("the chosen block failed to launch: {}", calls_.get_error_name(status));
        log_.warn_once(fmt::format("{}: {}; it is launched as written", kernel.name, reason));
        if (pending.plan != nullptr && pending.key_words > 0) {
            pending.plan->remember({pending.key.data(), pending.key_words}, pending.key_hash,
                                   as_written(shape, std::move(reason)));
        }
    } catch (const std::exception&) {
        return;  // Out of memory: nothing is remembered, and the next launch tries again.
    }
}

void Launcher::repeat(RegisteredKernel& kernel, const choosing::LaunchShape& shape, const char* keep,
                      const Pending& pending, const choosing::Decision& decision,
                      const BlockTimes::Send& send) noexcept {
    try {
        LaunchToVerify launch;
        launch.kernel = kernel.name;
        Dl_info object{};
        if (dladdr(kernel.host_function, &object) != 0 && object.dli_fname != nullptr)
            launch.object = object.dli_fname;
        launch.shape = shape;
        launch.chosen = {.grid = decision.grid,
                         .block = decision.block,
                         .dynamic_shared_bytes = decision.dynamic_shared_bytes};
        launch.chosen_body = decision.body;
        const std::uint32_t ordinal = devices_.current();
        const std::shared_ptr<const choosing::KnownDevice> device = devices_.device(ordinal);
        launch.device = device;
        if (pending.plan != nullptr) {
            launch.description = pending.plan->description();
            if (launch.description == nullptr) launch.left_alone = pending.plan->left_alone();
        }
        if (keep != nullptr) launch.left_alone = launch.kept = keep;
        if (launch.description != nullptr && device != nullptr) {
            launch.image = image_of(kernel, *pending.plan, shape, ordinal, *device);
            launch.shape = with_shared_limit(kernel, *pending.plan, shape, suggestion_.is_on());
            launch.bodies = other_bodies(*pending.plan, ordinal, *device);
            for (choosing::Kernel* body : pending.plan->bodies())
                launch.body_functions.push_back(as_registered(body)->host_function);
            if (choosing::Kernel* stand_in = pending.plan->stand_in())
                launch.code = as_registered(stand_in)->host_function;
            if (suggestion_.is_on()) launch.relatives = relatives_of(kernel, ordinal, *device);
            if (launch.left_alone.empty()) launch.left_alone = stands_in_the_way(*launch.description, shape);
        }
        launch.key.resize(launch.description == nullptr ? 0 : pending.plan->key().words());
        if (!launch.key.empty() && (shape.arguments != nullptr || !pending.plan->key().reads_arguments()))
            pending.plan->key().write(shape, ordinal, launch.key.data());
        if (block_times_.is_on())
            block_times_.measure(launch, send);
        else if (suggestion_.is_on())
            suggestion_.prepare(launch);
        else
            verification_.prepare(launch);
    } catch (const std::exception& error) {
        log_.warn_once(fmt::format("{} is not made again: {}", kernel.name, error.what()));
    }
}

void Launcher::finish() {
    learning_.finish(store_);
    crosscheck_.finish(store_);
    store_.flush();
    if (const std::string totals = totals_.text(); !totals.empty()) log_.summary(totals);
}

void Launcher::tell(const RegisteredKernel& kernel, const choosing::LaunchShape& shape,
                    const Pending& pending, const choosing::Decision& decision) noexcept {
    if (!report_.is_open() && !log_.wants(choosing::LogLevel::summary)) return;
    try {
        const std::shared_ptr<const choosing::KnownDevice> device = devices_.device(devices_.current());
        choosing::LaunchRecord record{
            .kernel = kernel.name,
            .device = device == nullptr ? "unknown" : device->name,
            .description = pending.plan == nullptr ? nullptr : pending.plan->description(),
            .shape = shape,
            .decision = decision,
            .unix_time_s = unix_time_s(),
            .blocks = {},
            .body = {}};
        if (pending.plan != nullptr && decision.body != 0)
            if (const choosing::Kernel* body = pending.plan->body(decision.body)) record.body = body->name;
        if (reports_blocks_ && device != nullptr && !decision.remembered && is_new_choice(decision.by) &&
            pending.plan->driver() != nullptr)
            record.blocks =
                predict_all(*record.description, *pending.plan->driver(), device->values,
                            image_of(kernel, *pending.plan, shape, devices_.current(), *device), shape);
        if (mode_ == choosing::Mode::observe && decision.by != choosing::By::unchanged) {
            record.decision.by = choosing::By::unchanged;
            record.decision.reason = "TRIMTAB=observe: launched as written";
        }
        report_.add(record);
        const choosing::Decision& told = record.decision;
        const bool is_changed =
            mode_ == choosing::Mode::on && (told.body != 0 || !choosing::same(told.grid, shape.grid) ||
                                            !choosing::same(told.block, shape.block) ||
                                            told.dynamic_shared_bytes != shape.dynamic_shared_bytes);
        totals_.add(record.kernel, told, is_changed);
        if (log_.wants(choosing::LogLevel::info)) log_.info(log_line(record));
    } catch (const std::exception&) {
        return;  // A line less in the log is no reason to fail a launch.
    }
}

}  // namespace trimtab::runtime
