// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work-group sizes for launches of OpenCL, by the engine that decides on CUDA's launches (choosing/engine.h). A work-group is a
// block; the grid is the global size in work-groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "choosing/engine.h"
#include "choosing/host.h"
#include "choosing/kernel.h"
#include "choosing/known_device.h"
#include "choosing/log.h"
#include "choosing/modules/bundles.h"
#include "choosing/modules/prepared_modules.h"
#include "choosing/report.h"
#include "choosing/settings.h"

namespace trimtab::opencl {

// Whose time is predicted.
struct ChoiceDevice {
    trimtab_device values{};
    std::string name;           // its slug
    std::uint32_t ordinal = 0;  // tells this process's devices apart
};

class Chooser : choosing::Host {
  public:
    // Of this process; made when first needed, never destroyed, for programs launch while they end.
    [[nodiscard]] static Chooser& instance();
    // `load_emulation`: for TRIMTAB_CROSSCHECK, where it is not the library.
    explicit Chooser(choosing::ReadSettings read, choosing::CrossCheck::Load load_emulation = {});

    using Pending = choosing::Engine::Pending;

    [[nodiscard]] const choosing::Settings& settings() const { return settings_; }
    [[nodiscard]] choosing::Log& log() { return log_; }
    // The driver programs of this process.
    [[nodiscard]] choosing::Bundles& bundles() { return bundles_; }
    // May anything become of launches, or is there something to tell of them?
    [[nodiscard]] bool is_active() const { return engine_.is_active(); }
    [[nodiscard]] bool tells() const { return engine_.tells(); }

    // The code of a program, in PTX, which ends with a NUL; null: none is to be looked for.
    [[nodiscard]] choosing::PreparedModule* module_of(const char* ptx);

    // A kernel of such code, or of none; the same each time, however many objects of a program's stand for it.
    [[nodiscard]] choosing::Kernel& kernel_of(choosing::PreparedModule* module, const std::string& name);

    // What most launches take, without a lock: false where there is something to decide or to tell. Else `choice` is
    // of an equal launch before; `is_changed` where it is not the launch as written.
    [[nodiscard]] bool recall(choosing::Kernel& kernel, const choosing::LaunchShape& shape,
                              std::uint32_t device, Pending& pending, choosing::RememberedChoice& choice,
                              bool& is_changed) noexcept {
        return engine_.recall(kernel, shape, [device] { return device; }, pending, choice, is_changed);
    }
    // Never throws; the launch as written at worst. `keep` is not null where this launch must go out as written, and
    // says why. Where `is_open` the program has left the work-group to us: `shape` has what it would be without a choice.
    // Told to the log and the report; under TRIMTAB=observe and off the answer is the launch as written.
    [[nodiscard]] choosing::Decision decide(choosing::Kernel& kernel, const choosing::LaunchShape& shape,
                                            const ChoiceDevice& device, const char* keep, bool is_open,
                                            Pending& pending) noexcept;
    // The changed launch failed: this shape goes out as written from now on.
    void give_up(const choosing::Kernel& kernel, const choosing::LaunchShape& shape, const Pending& pending,
                 std::string_view error) noexcept {
        engine_.give_up(kernel, shape, pending, error);
    }

    // The process is ending.
    void finish() { engine_.finish(); }

  private:
    // What the engine asks of OpenCL.
    [[nodiscard]] std::shared_ptr<const choosing::KnownDevice> device(std::uint32_t ordinal) override;
    [[nodiscard]] Own own(const choosing::Kernel& kernel) override;
    [[nodiscard]] choosing::Kernel* neighbour(choosing::Kernel& kernel, std::string_view name) override;
    void correct(trimtab_image& image, const choosing::Kernel& kernel,
                 const choosing::LaunchShape& shape) override;
    [[nodiscard]] std::uint64_t max_dynamic_shared_bytes(const choosing::Kernel& kernel,
                                                         const choosing::LaunchShape& shape) override;
    [[nodiscard]] std::shared_ptr<const std::vector<std::byte>> code(const choosing::Kernel& kernel) override;
    [[nodiscard]] bool can_profile() const override { return false; }
    [[nodiscard]] std::string_view word_for_block() const override { return "work-group"; }

    const choosing::Settings settings_;
    choosing::Log log_;
    choosing::Report report_;
    choosing::Bundles bundles_;
    choosing::PreparedModules modules_;
    std::mutex mutex_;  // of what follows
    std::map<std::pair<choosing::PreparedModule*, std::string>, std::unique_ptr<choosing::Kernel>> kernels_;
    std::map<std::uint32_t, std::shared_ptr<const choosing::KnownDevice>> devices_;
    std::map<const choosing::PreparedModule*, std::shared_ptr<const std::vector<std::byte>>> codes_;
    choosing::Engine engine_;
};

}  // namespace trimtab::opencl
