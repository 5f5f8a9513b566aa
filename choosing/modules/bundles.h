// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The driver programs that loaded objects brought along, by the fat binary that they were made for.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "choosing/log.h"
#include "core/analysis/launches/description.h"
#include "trimtab/driver.h"

namespace trimtab::choosing {

// A kernel of a bundle: how to launch it, and what predicts it.
struct BundledKernel {
    analysis::KernelDescription description;
    const trimtab_driver* driver = nullptr;  // null: there is none, and `no_driver` says why
    std::string no_driver;
};

class Bundles {
  public:
    explicit Bundles(Log& log) : log_(log) {}

    // A bundle of another ABI, or one without a hash, is refused with a warning.
    void add(const trimtab_bundle* bundle);
    void remove(const trimtab_bundle* bundle);

    struct Found {
        std::shared_ptr<const BundledKernel> kernel;  // null: `reason` says why
        const trimtab_bundle* bundle = nullptr;       // null where none has this hash
        std::string reason;
        // The other bodies that a launch of it may become (core/analysis/launches/variants.h and coarsened.h), in the order
        // of their values.
        std::vector<std::shared_ptr<const BundledKernel>> bodies = {};
        // The body whose launches those of the kernel are where they have its built-in block
        // (core/analysis/launches/built_in_blocks.h); null: there is none, or the kernel needs none.
        std::shared_ptr<const BundledKernel> stand_in = nullptr;
    };
    // The kernel of that mangled name. The bundle's JSON is parsed when first asked for.
    [[nodiscard]] Found find(std::string_view fat_binary_hash, std::string_view kernel);
    // The other bodies of a kernel that take the same parameters, annotated or not.
    [[nodiscard]] std::vector<std::shared_ptr<const BundledKernel>> relatives(
        std::string_view fat_binary_hash, std::string_view kernel);
    // Where the fat binary is not known: only a name that one kernel has.
    [[nodiscard]] Found find_by_name(std::string_view kernel);

  private:
    using Kernels = std::map<std::string, std::shared_ptr<const BundledKernel>, std::less<>>;
    struct Entry {
        const trimtab_bundle* bundle = nullptr;
        bool parsed = false;
        std::string broken;  // not empty: the record could not be read
        Kernels kernels;
    };
    void parse(Entry& entry);
    [[nodiscard]] static std::shared_ptr<const BundledKernel> stand_in_of(const BundledKernel& kernel,
                                                                          const Kernels& kernels);
    [[nodiscard]] static std::vector<std::shared_ptr<const BundledKernel>> bodies_of(
        const BundledKernel& kernel, const Kernels& kernels);
    // Driver programs that no kernel of the record goes with: the parts of a binary do not belong together.
    void complain_of_strays(const Entry& entry);

    Log& log_;
    std::mutex mutex_;
    std::vector<Entry> entries_;
};

}  // namespace trimtab::choosing
