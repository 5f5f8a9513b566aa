// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/modules/run_time_modules.h"

namespace trimtab::runtime {

RunTimeModules::RunTimeModules(const choosing::Settings& settings, choosing::Bundles& bundles,
                               Registrations& registrations, choosing::Log& log, choosing::ModuleCache cache,
                               Starter starter, const Limits& limits)
    : choosing::PreparedModules(settings, bundles, log, std::move(cache), std::move(starter), limits),
      registrations_(registrations),
      limits_(limits) {}

RunTimeModules::Handle* RunTimeModules::handle_of(const void* handle) {
    const auto owner = owners_.find(handle);
    const auto place = handles_.find(owner == owners_.end() ? handle : owner->second);
    return place == handles_.end() ? nullptr : &place->second;
}

void RunTimeModules::loaded(const void* handle, const choosing::ModuleImage& image) {
    choosing::PreparedModule* module = nullptr;
    {
        const std::lock_guard lock(mutex_);
        // Its context may have gone, and the module with it, without a word.
        forget_handle(handle);
        if (handles_.size() >= limits_.handles) return;
        module = hold(image);
        if (module == nullptr) return;
        handles_[handle].module = module;
    }
    keep_bytes(*module, image.bytes);
}

void RunTimeModules::same_module(const void* handle, const void* other_handle) {
    const std::lock_guard lock(mutex_);
    const auto place = handles_.find(handle);
    if (place == handles_.end() || handle == other_handle || owners_.contains(other_handle)) return;
    forget_handle(other_handle);
    place->second.others.push_back(other_handle);
    owners_[other_handle] = handle;
}

void RunTimeModules::unloading(const void* handle) {
    const std::lock_guard lock(mutex_);
    forget_handle(handle);
}

void RunTimeModules::forget_handle(const void* handle) {
    const auto place = handles_.find(handle);
    if (place == handles_.end()) return;
    for (const void* function : place->second.functions) {
        registrations_.set_handle(function, nullptr);
        owners_.erase(function);
    }
    for (const void* other : place->second.others) owners_.erase(other);
    choosing::PreparedModule& module = *place->second.module;
    handles_.erase(place);
    release(module);
}

void RunTimeModules::forget_function(const void* function) {
    registrations_.set_handle(function, nullptr);
    const auto owner = owners_.find(function);
    if (owner == owners_.end()) return;
    if (const auto place = handles_.find(owner->second); place != handles_.end())
        std::erase(place->second.functions, function);
    owners_.erase(owner);
}

void RunTimeModules::add_function(const void* handle, const void* function, const std::string& name,
                                  HandleKind kind) {
    const auto place = handles_.find(handle);
    if (place == handles_.end()) return forget_function(function);
    choosing::PreparedModule& module = *place->second.module;
    const KernelOfModule key{&module, name, kind};
    RegisteredKernel*& kernel = kernels_of_modules_[key];
    if (kernel == nullptr) {
        if (kernels_.size() >= limits_.kernels) {
            kernels_of_modules_.erase(key);
            return forget_function(function);
        }
        kernel = &kernels_.emplace_back();
        kernel->name = name;
        kernel->kind = kind;
        kernel->module = &module;
    }
    if (const auto owner = owners_.find(function); owner != owners_.end() && owner->second == handle) {
        if (registrations_.find(function) != kernel) registrations_.set_handle(function, kernel);
        return;
    }
    forget_function(function);
    place->second.functions.push_back(function);
    owners_[function] = handle;
    registrations_.set_handle(function, kernel);
}

void RunTimeModules::took_kernel(const void* handle, const void* function, const char* name,
                                 HandleKind kind) {
    if (function == nullptr) return;
    const std::lock_guard lock(mutex_);
    const auto owner = owners_.find(handle);
    add_function(owner == owners_.end() ? handle : owner->second, function, name == nullptr ? "" : name,
                 kind);
}

void RunTimeModules::same_kernel(const void* kernel, const void* function) {
    if (function == nullptr || function == kernel) return;
    const std::lock_guard lock(mutex_);
    const auto owner = owners_.find(kernel);
    const RegisteredKernel* known = registrations_.find(kernel);
    if (owner == owners_.end() || known == nullptr) {
        forget_function(function);
        registrations_.add_alias(function,
                                 kernel);  // of a kernel that the program has registered, if it is one
        return;
    }
    add_function(owner->second, function, known->name, HandleKind::driver_function);
}

}  // namespace trimtab::runtime
