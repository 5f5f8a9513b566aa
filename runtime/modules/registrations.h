// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the program's objects register before main: fat binaries, kernels, variables. Kept until the first
// CUDA call needs a backend, then handed on; so that a program that makes none starts no GPU driver, and one
// that forks first does so untouched.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "choosing/kernel.h"
#include "choosing/modules/kernel_plan.h"
#include "choosing/pointer_map.h"
#include "runtime/modules/program_variable.h"
#include "runtime/stand_in/backend.h"

namespace trimtab::runtime {

struct RegisteredKernel;

struct FatBinary {
    void* wrapper = nullptr;     // as given to __cudaRegisterFatBinary
    const void* data = nullptr;  // the fat binary itself; null where the wrapper is of an unknown kind
    void** backend_handle = nullptr;
    std::vector<std::function<void(const RegistrationCalls&, void** handle)>> pending;
    std::vector<const void*> host_functions;
    std::vector<ProgramVariable> variables;
    RegisteredKernel* last_kernel = nullptr;  // of the ring
};

// What a launch names its kernel by.
enum class HandleKind : std::uint8_t {
    host_function,    // or an alias of one
    driver_function,  // CUfunction, of a module that the program loaded
    library_kernel    // CUkernel, cudaKernel_t: of a library that it loaded
};

struct RegisteredKernel : choosing::Kernel {
    const void* host_function = nullptr;
    const void* fat_binary = nullptr;
    bool adopted = false;  // its fat binary is not known
    HandleKind kind = HandleKind::host_function;
    // A ring of those that were registered with one fat binary; null: of itself alone.
    std::atomic<RegisteredKernel*> next_of_binary = nullptr;

    // Of the same fat binary; null: none has that name.
    [[nodiscard]] RegisteredKernel* neighbour(std::string_view of_name) {
        for (RegisteredKernel* at = next_of_binary.load(std::memory_order_acquire);
             at != nullptr && at != this; at = at->next_of_binary.load(std::memory_order_acquire))
            if (at->name == of_name) return at;
        return nullptr;
    }
};

// What a plan has of the program's kernels.
[[nodiscard]] inline RegisteredKernel* as_registered(choosing::Kernel* kernel) {
    return static_cast<RegisteredKernel*>(kernel);
}

[[nodiscard]] inline const RegisteredKernel& as_registered(const choosing::Kernel& kernel) {
    return static_cast<const RegisteredKernel&>(kernel);
}

class Registrations {
  public:
    using Step = std::function<void(const RegistrationCalls&, void** handle)>;

    // The handle that the program gets, and hands to the others.
    [[nodiscard]] void** add_fat_binary(void* wrapper);
    void remove_fat_binary(void** handle);
    void add_function(void** handle, const void* host_function, const char* name);
    void add_variable(void** handle, const ProgramVariable& variable);
    [[nodiscard]] std::vector<ProgramVariable> variables() const;
    // Another name for the same kernel: a cudaKernel_t of it.
    void add_alias(const void* alias, const void* host_function);
    // What CUDA calls a kernel of a module that the program loaded; null: nothing that is known.
    void set_handle(const void* handle, RegisteredKernel* kernel) { kernels_.set(handle, kernel); }
    // Runs the step now if there is a backend, else when there is one.
    void add_step(void** handle, Step step);
    // The backend's handle; null where there is no backend yet.
    [[nodiscard]] void** backend_handle(void** handle);

    void hand_on(const RegistrationCalls& calls);
    // The process is ending: the backend may be gone already and is told nothing any more.
    void stop() { stopped_.store(true, std::memory_order_relaxed); }

    [[nodiscard]] RegisteredKernel* find(const void* host_function) const {
        return kernels_.find(host_function);
    }
    // A kernel that another runtime registered, known by its name alone.
    [[nodiscard]] RegisteredKernel* adopt(const void* host_function, const char* name);
    // Makes kernels look for their driver programs again: those that rest on this bundle, which is leaving;
    // or, of null, those that have found none, or only by their name, for a new bundle has come.
    void forget_plans(const trimtab_bundle* leaving);

  private:
    void hand_on(FatBinary& fat_binary) const;

    mutable std::mutex mutex_;
    const RegistrationCalls* calls_ = nullptr;
    std::vector<std::unique_ptr<FatBinary>> fat_binaries_;
    std::deque<RegisteredKernel> all_kernels_;  // never shrinks: a launch may hold one
    choosing::PointerMap<RegisteredKernel> kernels_;
    std::atomic<bool> stopped_ = false;
};

}  // namespace trimtab::runtime
