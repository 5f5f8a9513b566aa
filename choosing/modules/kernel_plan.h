// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runtime keeps of one kernel from its first launch on.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "choosing/choices/argument_key.h"
#include "choosing/choices/choice_memory.h"
#include "choosing/choices/choose.h"
#include "choosing/kernel.h"
#include "choosing/modules/bundles.h"
#include "trimtab/driver.h"

namespace trimtab::choosing {

class KernelPlan {
  public:
    // Where `found` has no kernel, every launch goes out as written, for its reason.
    // `bodies`: the kernels of `found.bodies`.
    explicit KernelPlan(Bundles::Found found, std::vector<Kernel*> bodies = {});
    // The plan of a kernel whose block is built in: all is that of `found.stand_in`, which is the kernel
    // `stand_in`, and launches that are changed are launches of its code.
    KernelPlan(Bundles::Found found, Kernel& stand_in);

    [[nodiscard]] const analysis::KernelDescription* description() const {
        return kernel_ == nullptr ? nullptr : &kernel_->description;
    }
    // Null: every launch goes out as written, and left_alone() says why.
    [[nodiscard]] const trimtab_driver* driver() const { return driver_; }
    [[nodiscard]] const std::string& left_alone() const { return left_alone_; }
    // Kernels that its launches may become: other bodies of it.
    [[nodiscard]] const std::vector<Kernel*>& bodies() const { return bodies_; }
    [[nodiscard]] Kernel* body(std::uint32_t place) const {
        return place == 0 || place > bodies_.size() ? nullptr : bodies_[place - 1];
    }
    // Whose code a changed launch runs; null: the kernel's own, or that of a body that was chosen.
    [[nodiscard]] Kernel* stand_in() const { return stand_in_; }
    // The same kernel, its driver program no longer asked.
    [[nodiscard]] Bundles::Found without_driver(std::string reason) const;
    // Of the record and the driver programs that it came with: another build has another.
    [[nodiscard]] std::uint64_t build_hash() const;
    // What it was found in; null: nothing.
    [[nodiscard]] const trimtab_bundle* bundle() const { return bundle_; }
    [[nodiscard]] const ArgumentKey& key() const { return key_; }
    [[nodiscard]] const ChoiceMemory& memory() const { return memory_; }

    // The image that runs on device `ordinal`: `ask` is called once for each device.
    template <typename Ask>
    [[nodiscard]] trimtab_image image(std::uint32_t ordinal, Ask&& ask) const {
        const std::lock_guard lock(mutex_);
        const auto [place, is_new] = images_.try_emplace(ordinal);
        if (is_new) place->second = ask();
        return place->second;
    }

    void remember(std::span<const std::uint64_t> key, std::uint64_t key_hash, const Decision& decision) const;
    // A remembered choice as a decision; its reason is the one it was made for.
    [[nodiscard]] Decision recall(const RememberedChoice& choice) const;

  private:
    std::shared_ptr<const BundledKernel> kernel_;
    const trimtab_bundle* bundle_ = nullptr;
    std::string left_alone_;
    std::vector<Kernel*> bodies_;
    Kernel* stand_in_ = nullptr;
    const trimtab_driver* driver_ = nullptr;
    ArgumentKey key_;
    mutable ChoiceMemory memory_;
    mutable std::mutex mutex_;
    mutable std::map<std::uint32_t, trimtab_image> images_;
    mutable std::deque<std::string> reasons_;
    mutable std::once_flag hashed_;
    mutable std::uint64_t build_hash_ = 0;
};

}  // namespace trimtab::choosing
