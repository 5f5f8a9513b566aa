// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trimtab in this process: made when first needed, never destroyed, for programs call CUDA while they end.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "choosing/log.h"
#include "choosing/modules/bundles.h"
#include "choosing/modules/module_preparation.h"
#include "choosing/report.h"
#include "choosing/settings.h"
#include "runtime/launches/launcher.h"
#include "runtime/modules/registrations.h"
#include "runtime/modules/run_time_modules.h"
#include "runtime/stand_in/backend.h"

namespace trimtab::runtime {

// What exists from the first CUDA call on.
struct Loaded {
    Loaded(const choosing::Settings& settings, choosing::Bundles& bundles, Registrations& registrations,
           choosing::Report& report, choosing::Log& log)
        : backend(settings, log),
          modules(settings, bundles, registrations, log,
                  choosing::ModuleCache(choosing::ModuleCache::default_folder()),
                  [waits = settings.modules == choosing::ModulesMode::wait](const std::string& source,
                                                                            const std::string& annotations) {
                      return choosing::start_preparation(source, annotations, waits);
                  }),
          launcher(settings, backend.calls(), bundles, report, log, &modules) {
        launcher.set_variables([&registrations] { return registrations.variables(); });
    }
    Backend backend;
    RunTimeModules modules;
    Launcher launcher;
};

class Process {
  public:
    [[nodiscard]] static Process& instance();

    [[nodiscard]] const choosing::Settings& settings() const { return settings_; }
    [[nodiscard]] choosing::Log& log() { return log_; }
    [[nodiscard]] choosing::Bundles& bundles() { return bundles_; }
    [[nodiscard]] Registrations& registrations() { return registrations_; }
    // The kernel that a launch names so; null: one that Trimtab knows nothing of.
    [[nodiscard]] RegisteredKernel* kernel_of(const void* function);

    // Chooses and loads the backend on the first call.
    [[nodiscard]] Loaded& loaded() {
        Loaded* loaded = loaded_.load(std::memory_order_acquire);
        return loaded != nullptr ? *loaded : load();
    }

  private:
    explicit Process(choosing::ReadSettings read);
    [[nodiscard]] Loaded& load();

    choosing::Settings settings_;
    choosing::Log log_;
    choosing::Bundles bundles_;
    Registrations registrations_;
    choosing::Report report_;
    std::mutex mutex_;
    std::atomic<Loaded*> loaded_ = nullptr;
};

}  // namespace trimtab::runtime
