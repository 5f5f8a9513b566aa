// Work-group sizes for launches of OpenCL: by the driver programs, remembered choices, log and report that CUDA's launches
// have. A work-group is a block; the grid is the global size in work-groups.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "choosing/choices/choice_store.h"
#include "choosing/choices/choose.h"
#include "choosing/log.h"
#include "choosing/modules/bundles.h"
#include "choosing/modules/kernel_plan.h"
#include "choosing/modules/prepared_modules.h"
#include "choosing/report.h"
#include "choosing/settings.h"
#include "choosing/totals.h"

namespace trimtab::opencl {

// A kernel whose launches are chosen: one, however many objects of a program's stand for it. Never destroyed.
class ChosenKernel {
  public:
    ChosenKernel(std::string name, choosing::PreparedModule* module)
        : name_(std::move(name)), module_(module) {}

    [[nodiscard]] const std::string& name() const { return name_; }

  private:
    friend class Chooser;
    std::string name_;
    choosing::PreparedModule* module_ = nullptr;  // null: nothing is known of its code
    std::atomic<const choosing::KernelPlan*> plan_ = nullptr;
    std::atomic<bool> awaits_module_ = false;
};

// Whose time is predicted.
struct ChoiceDevice {
    trimtab_device values{};
    std::string name;           // its slug
    std::uint32_t ordinal = 0;  // tells this process's devices apart
};

class Chooser {
  public:
    // Of this process; made when first needed, never destroyed, for programs launch while they end.
    [[nodiscard]] static Chooser& instance();
    explicit Chooser(choosing::ReadSettings read);

    [[nodiscard]] const choosing::Settings& settings() const { return settings_; }
    [[nodiscard]] choosing::Log& log() { return log_; }
    // The driver programs of this process.
    [[nodiscard]] choosing::Bundles& bundles() { return bundles_; }
    // May anything become of launches, or is there something to tell of them?
    [[nodiscard]] bool is_active() const { return settings_.mode != choosing::Mode::off || tells_; }
    [[nodiscard]] bool tells() const { return tells_; }

    // The code of a program, in PTX, which ends with a NUL; null: none is to be looked for.
    [[nodiscard]] choosing::PreparedModule* module_of(const char* ptx);

    // A kernel of such code, or of none; the same each time.
    [[nodiscard]] ChosenKernel& kernel_of(choosing::PreparedModule* module, const std::string& name);

    // What most launches take, without a lock: false where there is something to decide or to tell. Else `choice` is
    // of an equal launch before; `is_changed` where it is not the launch as written.
    [[nodiscard]] bool recall(ChosenKernel& kernel, const choosing::LaunchShape& shape, std::uint32_t device,
                              choosing::RememberedChoice& choice, bool& is_changed) noexcept;
    // Never throws; the launch as written at worst. `keep` is not null where this launch must go out as written, and
    // says why. Where `is_open` the program has left the work-group to us: `shape` has what it would be without a choice.
    // Told to the log and the report; under TRIMTAB=observe and off the answer is the launch as written.
    [[nodiscard]] choosing::Decision decide(ChosenKernel& kernel, const choosing::LaunchShape& shape,
                                            const ChoiceDevice& device, const char* keep,
                                            bool is_open) noexcept;
    // The changed launch failed: this shape goes out as written from now on.
    void give_up(ChosenKernel& kernel, const choosing::LaunchShape& shape, std::uint32_t device,
                 const std::string& error) noexcept;

  private:
    struct Key {
        std::uint64_t words[choosing::ArgumentKey::max_words];  // not filled in beyond count
        std::uint64_t hash;
        std::size_t count;
        [[nodiscard]] std::span<const std::uint64_t> span() const { return {words, count}; }
    };
    [[nodiscard]] static bool make_key(const choosing::KernelPlan& plan, const choosing::LaunchShape& shape,
                                       std::uint32_t device, Key& key);
    [[nodiscard]] const choosing::KernelPlan& plan_of(ChosenKernel& kernel);
    [[nodiscard]] const choosing::KernelPlan* look_again(ChosenKernel& kernel,
                                                         const choosing::KernelPlan* plan) noexcept;
    [[nodiscard]] choosing::Decision decide_whole(ChosenKernel& kernel, const choosing::LaunchShape& shape,
                                                  const ChoiceDevice& device, const char* keep,
                                                  const choosing::KernelPlan*& plan);
    [[nodiscard]] choosing::Decision decide_new(ChosenKernel& kernel, const choosing::KernelPlan& plan,
                                                const Key& key, const choosing::LaunchShape& shape,
                                                const ChoiceDevice& device);
    [[nodiscard]] static trimtab_image image_of(const choosing::KernelPlan& plan, const ChoiceDevice& device);
    void tell(const ChosenKernel& kernel, const choosing::KernelPlan* plan,
              const choosing::LaunchShape& shape, const ChoiceDevice& device,
              const choosing::Decision& decision, bool is_open) noexcept;

    const choosing::Settings settings_;
    choosing::Log log_;
    choosing::Report report_;
    const bool tells_;
    choosing::ChoiceStore store_;
    choosing::Bundles bundles_;
    choosing::PreparedModules modules_;
    choosing::Totals totals_;
    std::mutex kernels_mutex_;
    std::map<std::pair<choosing::PreparedModule*, std::string>, std::unique_ptr<ChosenKernel>> kernels_;
    std::mutex plans_mutex_;
    std::deque<choosing::KernelPlan> plans_;  // never shrinks: a launch may hold one
};

}  // namespace trimtab::opencl
