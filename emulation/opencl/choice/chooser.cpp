// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/choice/chooser.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <exception>

#include "choosing/modules/module_preparation.h"

namespace trimtab::opencl {

Chooser& Chooser::instance() {
    static Chooser& chooser = *[] {
        auto* made =
            new Chooser(choosing::read_settings([](const char* name) { return secure_getenv(name); }));
        static_cast<void>(std::atexit([] { instance().finish(); }));
        return made;
    }();
    return chooser;
}

Chooser::Chooser(choosing::ReadSettings read, choosing::CrossCheck::Load load_emulation)
    : settings_(std::move(read.settings)),
      log_(settings_.log),
      report_(settings_.report_path, log_),
      bundles_(log_),
      modules_(settings_, bundles_, log_, choosing::ModuleCache(choosing::ModuleCache::default_folder()),
               [waits = settings_.modules == choosing::ModulesMode::wait](const std::string& source,
                                                                          const std::string& annotations) {
                   return choosing::start_preparation(source, annotations, waits);
               },
               {}),
      // The driver's queues need not keep times, and a program that does not ask for them must not pay for them.
      engine_(settings_, {.host = *this,
                          .bundles = bundles_,
                          .modules = &modules_,
                          .report = report_,
                          .log = log_,
                          .clock = nullptr,
                          .load_emulation = std::move(load_emulation)}) {
    for (const std::string& warning : read.warnings) log_.warn(warning);
    for (const std::string& warning : choosing::unknown_variables(environ)) log_.warn(warning);
}

choosing::PreparedModule* Chooser::module_of(const char* ptx) {
    if (!is_active() || !modules_.is_on()) return nullptr;
    choosing::PreparedModule* module = modules_.registered(ptx);
    // Programs give their code back; a check comes later.
    if (module != nullptr && settings_.crosscheck.leaders > 0) {
        const auto* bytes = reinterpret_cast<const std::byte*>(ptx);
        const std::lock_guard lock(mutex_);
        auto& code = codes_[module];
        if (code == nullptr)
            code = std::make_shared<const std::vector<std::byte>>(bytes, bytes + std::strlen(ptx));
    }
    return module;
}

choosing::Kernel& Chooser::kernel_of(choosing::PreparedModule* module, const std::string& name) {
    const std::lock_guard lock(mutex_);
    auto& kernel = kernels_[{module, name}];
    if (kernel == nullptr) kernel = std::make_unique<choosing::Kernel>(name, module);
    return *kernel;
}

choosing::Decision Chooser::decide(choosing::Kernel& kernel, const choosing::LaunchShape& shape,
                                   const ChoiceDevice& device, const char* keep, bool is_open,
                                   Pending& pending) noexcept {
    try {
        const std::lock_guard lock(mutex_);
        auto& known = devices_[device.ordinal];
        if (known == nullptr)
            known = std::make_shared<const choosing::KnownDevice>(
                choosing::KnownDevice{.values = device.values, .name = device.name});
    } catch (const std::exception&) {
        keep = "no memory is left";
    }
    choosing::Decision decision =
        engine_.decide(kernel, shape, device.ordinal, keep, pending,
                       is_open ? "the program leaves the work-group's size open; " : "");
    if (settings_.mode != choosing::Mode::on) {
        decision.launch = shape.written;
        decision.by = choosing::By::unchanged;
    }
    return decision;
}

std::shared_ptr<const choosing::KnownDevice> Chooser::device(std::uint32_t ordinal) {
    const std::lock_guard lock(mutex_);
    const auto known = devices_.find(ordinal);
    return known == devices_.end() ? nullptr : known->second;
}

choosing::Host::Own Chooser::own(const choosing::Kernel& kernel) {
    Own own;
    if (kernel.module.load(std::memory_order_acquire) == nullptr)
        own.found.reason = "its program's code is not looked at";
    return own;
}

// Other bodies are kernels of one program that one macro's values tell apart: OpenCL's programs have none.
choosing::Kernel* Chooser::neighbour(choosing::Kernel&, std::string_view) {
    return nullptr;
}

// What drivers make of a program they do not tell.
void Chooser::correct(trimtab_image&, const choosing::Kernel&, const choosing::LaunchShape&) {}

std::uint64_t Chooser::max_dynamic_shared_bytes(const choosing::Kernel&, const choosing::LaunchShape&) {
    return 0;
}

std::shared_ptr<const std::vector<std::byte>> Chooser::code(const choosing::Kernel& kernel) {
    const std::lock_guard lock(mutex_);
    const auto known = codes_.find(kernel.module.load(std::memory_order_acquire));
    return known == codes_.end() ? nullptr : known->second;
}

}  // namespace trimtab::opencl
