// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/modules/registrations.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace trimtab::runtime {
namespace {

// What __cudaRegisterFatBinary is given (fatbinary_section.h of the toolkit).
struct Wrapper {
    std::int32_t magic;
    std::int32_t version;
    const void* data;
    const void* prelinked;  // version 2: the fat binaries that were linked, a list that ends with null
};
constexpr std::int32_t wrapper_magic = 0x466243b1;

const void* data_of(const void* pointer) {
    const auto* wrapper = static_cast<const Wrapper*>(pointer);
    return wrapper != nullptr && wrapper->magic == wrapper_magic ? wrapper->data : nullptr;
}

}  // namespace

void** Registrations::add_fat_binary(void* wrapper) {
    const std::lock_guard lock(mutex_);
    fat_binaries_.push_back(std::make_unique<FatBinary>(FatBinary{.wrapper = wrapper,
                                                                  .data = data_of(wrapper),
                                                                  .backend_handle = nullptr,
                                                                  .pending = {},
                                                                  .host_functions = {},
                                                                  .variables = {},
                                                                  .last_kernel = nullptr}));
    FatBinary& fat_binary = *fat_binaries_.back();
    if (calls_ != nullptr) hand_on(fat_binary);
    return reinterpret_cast<void**>(&fat_binary);
}

void Registrations::remove_fat_binary(void** handle) {
    const std::lock_guard lock(mutex_);
    const auto place = std::find_if(fat_binaries_.begin(), fat_binaries_.end(), [handle](const auto& entry) {
        return reinterpret_cast<void**>(entry.get()) == handle;
    });
    if (place == fat_binaries_.end()) return;
    FatBinary& fat_binary = **place;
    for (const void* host_function : fat_binary.host_functions) kernels_.set(host_function, nullptr);
    if (calls_ != nullptr && fat_binary.backend_handle != nullptr &&
        !stopped_.load(std::memory_order_relaxed))
        calls_->unregister_fat_binary(fat_binary.backend_handle);
    fat_binaries_.erase(place);
}

void Registrations::add_function(void** handle, const void* host_function, const char* name) {
    const std::lock_guard lock(mutex_);
    auto* fat_binary = reinterpret_cast<FatBinary*>(handle);
    fat_binary->host_functions.push_back(host_function);
    RegisteredKernel& kernel = all_kernels_.emplace_back();
    kernel.host_function = host_function;
    kernel.fat_binary = fat_binary->data;
    kernel.name = name == nullptr ? "" : name;
    if (RegisteredKernel* last = fat_binary->last_kernel) {
        RegisteredKernel* first = last->next_of_binary.load(std::memory_order_relaxed);
        kernel.next_of_binary.store(first == nullptr ? last : first, std::memory_order_relaxed);
        last->next_of_binary.store(&kernel, std::memory_order_release);
    }
    fat_binary->last_kernel = &kernel;
    kernels_.set(host_function, &kernel);
}

void Registrations::add_variable(void** handle, const ProgramVariable& variable) {
    const std::lock_guard lock(mutex_);
    reinterpret_cast<FatBinary*>(handle)->variables.push_back(variable);
}

std::vector<ProgramVariable> Registrations::variables() const {
    const std::lock_guard lock(mutex_);
    std::vector<ProgramVariable> all;
    for (const auto& fat_binary : fat_binaries_)
        all.insert(all.end(), fat_binary->variables.begin(), fat_binary->variables.end());
    return all;
}

RegisteredKernel* Registrations::adopt(const void* host_function, const char* name) {
    const std::lock_guard lock(mutex_);
    if (RegisteredKernel* kernel = kernels_.find(host_function)) return kernel;
    RegisteredKernel& kernel = all_kernels_.emplace_back();
    kernel.host_function = host_function;
    kernel.adopted = true;
    kernel.name = name;
    kernels_.set(host_function, &kernel);
    return &kernel;
}

void Registrations::add_alias(const void* alias, const void* host_function) {
    const std::lock_guard lock(mutex_);
    if (RegisteredKernel* kernel = kernels_.find(host_function); kernel != nullptr && alias != nullptr)
        kernels_.set(alias, kernel);
}

void Registrations::add_step(void** handle, Step step) {
    const std::lock_guard lock(mutex_);
    auto* fat_binary = reinterpret_cast<FatBinary*>(handle);
    if (calls_ != nullptr) {
        step(*calls_, fat_binary->backend_handle);
    } else {
        fat_binary->pending.push_back(std::move(step));
    }
}

void** Registrations::backend_handle(void** handle) {
    const std::lock_guard lock(mutex_);
    return reinterpret_cast<FatBinary*>(handle)->backend_handle;
}

void Registrations::hand_on(const RegistrationCalls& calls) {
    const std::lock_guard lock(mutex_);
    calls_ = &calls;
    for (const auto& fat_binary : fat_binaries_) hand_on(*fat_binary);
}

void Registrations::hand_on(FatBinary& fat_binary) const {
    fat_binary.backend_handle = calls_->register_fat_binary(fat_binary.wrapper);
    for (const Step& step : fat_binary.pending) step(*calls_, fat_binary.backend_handle);
    fat_binary.pending.clear();
}

void Registrations::forget_plans(const trimtab_bundle* leaving) {
    const std::lock_guard lock(mutex_);
    for (RegisteredKernel& kernel : all_kernels_) {
        const choosing::KernelPlan* plan = kernel.plan.load(std::memory_order_acquire);
        if (plan == nullptr) continue;
        const bool forget =
            leaving != nullptr ? plan->bundle() == leaving : plan->bundle() == nullptr || kernel.adopted;
        if (forget) kernel.plan.store(nullptr, std::memory_order_release);
    }
}

}  // namespace trimtab::runtime
