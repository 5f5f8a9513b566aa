// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/process.h"

#include <unistd.h>

#include <cstdlib>

#include "runtime/pending_error.h"

namespace trimtab::runtime {

Process& Process::instance() {
    static Process& process =
        *new Process(choosing::read_settings([](const char* name) { return secure_getenv(name); }));
    return process;
}

Process::Process(choosing::ReadSettings read)
    : settings_(std::move(read.settings)),
      log_(settings_.log),
      bundles_(log_),
      report_(settings_.report_path, log_) {
    for (const std::string& warning : read.warnings) log_.warn(warning);
    for (const std::string& warning : choosing::unknown_variables(environ)) log_.warn(warning);
    preload_real_runtime(settings_);
}

RegisteredKernel* Process::kernel_of(const void* function) {
    RegisteredKernel* kernel = registrations_.find(function);
    if (kernel != nullptr || loaded().backend.kind() != BackendKind::foreign) return kernel;
    const BackendCalls& calls = loaded().backend.calls();
    const PendingError pending(calls);
    const char* name = nullptr;
    if (calls.func_get_name(&name, function) == cudaSuccess && name != nullptr)
        return registrations_.adopt(function, name);
    pending.restore();
    return nullptr;
}

Loaded& Process::load() {
    const std::lock_guard lock(mutex_);
    if (Loaded* loaded = loaded_.load(std::memory_order_acquire)) return *loaded;
    Loaded& loaded = *new Loaded(settings_, bundles_, registrations_, report_, log_);
    // Runs before the backend's own handlers, for it is registered after them.
    static_cast<void>(std::atexit([] {
        if (Loaded* ready = instance().loaded_.load(std::memory_order_acquire)) ready->launcher.finish();
        instance().registrations().stop();
    }));
    registrations_.hand_on(loaded.backend.calls().registration);
    loaded_.store(&loaded, std::memory_order_release);
    return loaded;
}

}  // namespace trimtab::runtime
