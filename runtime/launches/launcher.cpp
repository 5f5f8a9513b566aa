// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/launcher.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <exception>

#include "core/ptx/binary.h"

namespace trimtab::runtime {

Launcher::Launcher(const choosing::Settings& settings, const BackendCalls& calls, choosing::Bundles& bundles,
                   choosing::Report& report, choosing::Log& log, RunTimeModules* modules,
                   choosing::CrossCheck::Load load_emulation)
    : verification_(settings.verify, calls, log),
      suggestion_(settings.suggest, calls, log),
      block_times_(settings.bench, calls, log),
      calls_(calls),
      bundles_(bundles),
      log_(log),
      devices_(calls, log),
      events_(calls),
      engine_(settings, {.host = *this,
                         .bundles = bundles,
                         .modules = modules,
                         .report = report,
                         .log = log,
                         .clock = &events_,
                         .repeats = repeats(),
                         .load_emulation = std::move(load_emulation)}) {}

const analysis::KernelDescription* Launcher::description_of(RegisteredKernel& kernel) noexcept {
    try {
        return engine_.plan_of(kernel).description();
    } catch (const std::exception&) {
        return nullptr;
    }
}

bool Launcher::may_change(RegisteredKernel& kernel) noexcept {
    try {
        return is_active() && (engine_.tells() || engine_.plan_of(kernel).driver() != nullptr);
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
        const trimtab_image image =
            engine_.image_of(*registered, engine_.plan_of(*registered), {}, ordinal, device);
        relatives.push_back(
            {.kernel = std::move(relative), .image = image, .function = registered->host_function});
    }
    return relatives;
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
        launch.chosen = decision.launch;
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
            launch.image = engine_.image_of(kernel, *pending.plan, shape, ordinal, *device);
            launch.shape = engine_.with_shared_limit(kernel, *pending.plan, shape, suggestion_.is_on());
            launch.bodies = engine_.other_bodies(*pending.plan, ordinal, *device);
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

}  // namespace trimtab::runtime
