// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel whose launches are chosen.
#pragma once

#include <atomic>
#include <string>
#include <utility>

namespace trimtab::choosing {

class KernelPlan;
struct PreparedModule;

// An interface adds what it knows its kernels by. Never destroyed: a launch may hold one.
struct Kernel {
    Kernel() = default;
    explicit Kernel(std::string mangled_name, PreparedModule* its_module = nullptr)
        : name(std::move(mangled_name)), module(its_module) {}

    std::string name;  // mangled
    // Null until the first launch.
    std::atomic<const KernelPlan*> plan = nullptr;
    // Where its driver program may come from; null: from nowhere but the program.
    std::atomic<PreparedModule*> module = nullptr;
    std::atomic<bool> awaits_module = false;  // its plan is made again when the module is settled
};

}  // namespace trimtab::choosing
