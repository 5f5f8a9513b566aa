// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/modules/prepared_modules.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "trimtab/driver.h"

namespace trimtab::choosing {
namespace {

constexpr unsigned most_attempts = 3;
constexpr char being_prepared[] = "its driver program is being prepared";

std::int64_t now_ns() {
    return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace

PreparedModules::PreparedModules(const Settings& settings, Bundles& bundles, Log& log, ModuleCache cache,
                                 Starter starter, const Limits& limits)
    : mode_(settings.modules),
      bundles_(bundles),
      log_(log),
      annotations_(settings.annotations, log),
      cache_(std::move(cache)),
      starter_(std::move(starter)),
      limits_(limits) {}

PreparedModule* PreparedModules::hold(const ModuleImage& image) {
    const std::lock_guard lock(mutex_);
    // Those that cannot be prepared are told apart by why.
    const bool can_be_prepared = image.kind != ModuleImage::Kind::none;
    const std::string& key = can_be_prepared ? image.hash : image.why_none;
    const auto place = modules_.find(key);
    if (place != modules_.end()) {
        ++place->second->holders;
        return place->second.get();
    }
    if (modules_.size() >= limits_.modules) {
        log_.warn_once(
            "the program loads very many modules: the kernels of further ones are launched as written");
        return nullptr;
    }
    auto module = std::make_unique<PreparedModule>();
    module->holders = 1;
    module->hash = annotations_.hash_of_module(image.hash);
    module->kind = image.kind;
    module->reason = can_be_prepared ? why_blocks_are_fixed(image) : image.why_none;
    module->settled = !module->reason.empty();
    return modules_.emplace(key, std::move(module)).first->second.get();
}

void PreparedModules::release(PreparedModule& module) {
    const std::lock_guard lock(mutex_);
    if (--module.holders > 0) return;
    const std::lock_guard of_module(module.mutex);
    drop_bytes(module);
}

void PreparedModules::keep_bytes(PreparedModule& module, std::span<const std::byte> bytes) {
    if (mode_ == ModulesMode::cached || mode_ == ModulesMode::off) return;
    const std::lock_guard lock(module.mutex);
    if (module.settled || module.was_started || !module.bytes.empty()) return;
    if (kept_bytes_.load() + bytes.size() > limits_.bytes) return;
    module.bytes.assign(bytes.begin(), bytes.end());
    kept_bytes_ += bytes.size();
}

// With the module's mutex held.
void PreparedModules::drop_bytes(PreparedModule& module) {
    kept_bytes_ -= module.bytes.size();
    std::vector<std::byte>().swap(module.bytes);
}

PreparedModule* PreparedModules::registered(const void* code) {
    const ModuleImage image = recognise_module(code);
    PreparedModule* module = hold(image);  // for good
    if (module != nullptr) keep_bytes(*module, image.bytes);
    return module;
}

PreparedModules::Found PreparedModules::find(PreparedModule& module, std::string_view kernel) {
    const auto patience = std::chrono::steady_clock::now() + limits_.longest_wait;
    while (!module.settled.load(std::memory_order_acquire)) {
        {
            const std::lock_guard lock(module.mutex);
            if (!module.settled) look(module);
            if (module.settled || mode_ != ModulesMode::wait || module.was_waited_for) break;
            if (std::chrono::steady_clock::now() >= patience) {
                module.was_waited_for = true;
                log_.warn(
                    fmt::format("a module's driver programs are not prepared after {} s: its kernels are "
                                "launched as written "
                                "until they are",
                                limits_.longest_wait / std::chrono::seconds(1)));
                break;
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (!module.settled.load(std::memory_order_acquire)) {
        module.next_look_ns = now_ns() + std::chrono::nanoseconds(limits_.between_looks).count();
        return {.kernel = {.kernel = nullptr, .bundle = nullptr, .reason = being_prepared}, .may_come = true};
    }
    if (!module.reason.empty())
        return {.kernel = {.kernel = nullptr, .bundle = nullptr, .reason = module.reason}, .may_come = false};
    return {.kernel = bundles_.find(module.hash, kernel), .may_come = false};
}

bool PreparedModules::look_again(PreparedModule& module) {
    if (module.settled.load(std::memory_order_acquire)) return true;
    const std::int64_t now = now_ns();
    std::int64_t due = module.next_look_ns.load(std::memory_order_relaxed);
    const std::int64_t next = now + std::chrono::nanoseconds(limits_.between_looks).count();
    if (now < due || !module.next_look_ns.compare_exchange_strong(due, next, std::memory_order_relaxed))
        return false;
    const std::lock_guard lock(module.mutex);
    if (!module.settled) look(module);
    return module.settled;
}

void PreparedModules::settle(PreparedModule& module, std::string reason) {
    module.reason = std::move(reason);
    drop_bytes(module);
    module.settled.store(true, std::memory_order_release);
}

// At most so many are at work at once; the modules of the others have their turn at a later look.
bool PreparedModules::may_start(const std::string& hash) {
    const auto now = std::chrono::steady_clock::now();
    const std::lock_guard lock(started_mutex_);
    std::erase_if(started_, [&](const Started& started) {
        if (FileLock::is_held(cache_.lock(started.hash))) return false;
        const bool has_ended = access(cache_.library(started.hash).c_str(), F_OK) == 0 ||
                               cache_.failure(started.hash).has_value();
        return has_ended || now - started.time > limits_.start_takes;
    });
    if (started_.size() >= limits_.started_at_once) return false;
    started_.push_back({.hash = hash, .time = now});
    return true;
}

void PreparedModules::look(PreparedModule& module) {
    if (bundles_.find(module.hash, {}).bundle != nullptr) return settle(module, {});
    if (mode_ == ModulesMode::off)
        return settle(module, "TRIMTAB_MODULES=off: it is of a module without driver programs of its own");
    if (!cache_.is_there()) return settle(module, "there is no cache folder for prepared modules");
    if (take_from_cache(module)) return;
    if (mode_ == ModulesMode::cached)
        return settle(module, "its module is not prepared (TRIMTAB_MODULES=cached)");
    look_at_preparation(module);
}

// True: that settles it.
bool PreparedModules::take_from_cache(PreparedModule& module) {
    const auto file = cache_.find(module.hash);
    std::string wrong;
    if (!file) {
        wrong = file.error().text();
    } else if (*file) {
        wrong = open_library((*file)->file().number(), module.hash);
        if (wrong.empty()) {
            settle(module, {});
            return true;
        }
    } else {
        return false;
    }
    log_.warn_once(fmt::format("a prepared module is not used: {}", wrong));
    // One that was made by this very run is no better the second time.
    if (!module.was_started && mode_ != ModulesMode::cached) {
        unlink(cache_.library(module.hash).c_str());
        return false;
    }
    settle(module, "its prepared module cannot be used");
    return true;
}

std::string PreparedModules::open_library(int file, const std::string& hash) {
    const std::string path = cache_.library(hash);
    // The loader takes two files of one name for one, and numbers of files come again: a slash more each time
    // makes it another name.
    const std::string name = fmt::format("/proc/self/fd{}{}", std::string(++opened_libraries_, '/'), file);
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* message = dlerror();
        return message == nullptr ? path + ": cannot be loaded" : message;
    }
    const auto* bundle = static_cast<const trimtab_bundle*>(dlsym(library, "trimtab_module_bundle"));
    std::string wrong;
    if (bundle == nullptr)
        wrong = "it holds no driver programs";
    else if (bundle->abi != TRIMTAB_DRIVER_ABI)
        wrong =
            fmt::format("its driver programs have ABI {}, this runtime {}", bundle->abi, TRIMTAB_DRIVER_ABI);
    else if (bundle->fat_binary_hash == nullptr || hash != bundle->fat_binary_hash)
        wrong = "it is another module's";
    if (wrong.empty()) {
        bundles_.add(bundle);  // stays: plans rest on it
        return {};
    }
    dlclose(library);
    return path + ": " + wrong;
}

void PreparedModules::look_at_preparation(PreparedModule& module) {
    if (FileLock::is_held(cache_.lock(module.hash))) return;
    // It may have ended since the cache was looked at.
    if (module.was_started && take_from_cache(module)) return;
    if (const auto failure = cache_.failure(module.hash);
        failure && (!failure->was_cut_off || failure->attempts >= most_attempts || module.was_started))
        return settle(module, "its module could not be prepared: " + failure->reason);
    if (!module.was_started) return start(module);
    if (std::chrono::steady_clock::now() - module.started > limits_.start_takes)
        settle(module, "its module's preparation ended without a result");
}

void PreparedModules::start(PreparedModule& module) {
    if (module.bytes.empty()) return settle(module, "its module is not prepared, and too many others are");
    if (!may_start(module.hash)) return;
    module.was_started = true;
    module.started = std::chrono::steady_clock::now();
    const std::string source = cache_.source(module.hash, module.kind);
    auto ready = cache_.make_folder();
    if (ready) ready = base::write_whole(source, module.bytes);
    const std::string wrong =
        ready ? starter_(source, annotations_.is_on() ? annotations_.path() : "") : ready.error().text();
    if (wrong.empty()) return drop_bytes(module);
    log_.warn_once(fmt::format("modules that the program loads cannot be prepared: {}", wrong));
    settle(module, "its module cannot be prepared: " + wrong);
}

}  // namespace trimtab::choosing
