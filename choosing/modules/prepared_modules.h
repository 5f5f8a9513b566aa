// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules whose driver programs may come while the program runs: from the program itself, or from the cache of prepared
// modules, into which `trimtab prepare` puts what is missing while the program goes on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "choosing/log.h"
#include "choosing/modules/bundles.h"
#include "choosing/modules/module_cache.h"
#include "choosing/modules/module_image.h"
#include "choosing/modules/side_annotations.h"
#include "choosing/settings.h"

namespace trimtab::choosing {

// One module's content, however often it is loaded. Never destroyed: a kernel may hold it.
struct PreparedModule {
    std::string hash;
    ModuleImage::Kind kind = ModuleImage::Kind::none;
    std::atomic<bool> settled = false;  // whether it has driver programs is known
    std::atomic<std::int64_t> next_look_ns = 0;

    std::mutex mutex;              // of what follows
    std::string reason;            // settled without driver programs: why
    std::vector<std::byte> bytes;  // until it is settled or handed to `trimtab prepare`
    bool was_started = false, was_waited_for = false;
    std::chrono::steady_clock::time_point started;

    std::size_t holders = 0;  // its bytes are dropped with the last of them; under PreparedModules' mutex
};

class PreparedModules {
  public:
    // Starts `trimtab prepare` for a file, with a file of annotations or none: empty, or why it could not be
    // started.
    using Starter = std::function<std::string(const std::string& source, const std::string& annotations)>;
    struct Limits {
        std::chrono::milliseconds between_looks{100};
        std::chrono::milliseconds longest_wait{120000};  // TRIMTAB_MODULES=wait, for one module
        std::chrono::milliseconds start_takes{10000};    // until `trimtab prepare` is at work
        std::size_t modules = 1024;
        std::size_t bytes = std::size_t{64} << 20;  // of modules that are kept for preparing
        std::size_t started_at_once = 2;
    };

    PreparedModules(const Settings& settings, Bundles& bundles, Log& log, ModuleCache cache, Starter starter,
                    const Limits& limits);

    [[nodiscard]] bool is_on() const { return mode_ != ModulesMode::off; }
    // Beside its source: TRIMTAB_ANNOTATIONS.
    [[nodiscard]] bool annotates(std::string_view kernel) const { return annotations_.names(kernel); }

    // The module of code that stays: a fat binary, or PTX that ends with a NUL. Null: there are too many.
    [[nodiscard]] PreparedModule* registered(const void* code);

    struct Found {
        Bundles::Found kernel;
        bool may_come = false;  // it is being prepared: look_again() says when
    };
    // Waits for it where TRIMTAB_MODULES=wait.
    [[nodiscard]] Found find(PreparedModule& module, std::string_view kernel);
    // Has it been settled? Looks at the cache, though not at every call.
    [[nodiscard]] bool look_again(PreparedModule& module);

  protected:
    // The module of an image, for who lets it go with release(). Null: there are too many.
    [[nodiscard]] PreparedModule* hold(const ModuleImage& image);
    void release(PreparedModule& module);
    void keep_bytes(PreparedModule& module, std::span<const std::byte> bytes);

  private:
    // With the module's mutex held.
    void drop_bytes(PreparedModule& module);
    void look(PreparedModule& module);
    void settle(PreparedModule& module, std::string reason);
    [[nodiscard]] bool take_from_cache(PreparedModule& module);
    void look_at_preparation(PreparedModule& module);
    void start(PreparedModule& module);
    [[nodiscard]] std::string open_library(int file, const std::string& hash);
    [[nodiscard]] bool may_start(const std::string& hash);

    const ModulesMode mode_;
    Bundles& bundles_;
    Log& log_;
    const SideAnnotations annotations_;
    const ModuleCache cache_;
    const Starter starter_;
    const Limits limits_;
    std::atomic<std::size_t> kept_bytes_ = 0, opened_libraries_ = 0;

    struct Started {
        std::string hash;
        std::chrono::steady_clock::time_point time;
    };
    std::mutex started_mutex_;
    std::vector<Started> started_;  // that may still be at work

    std::mutex mutex_;
    std::map<std::string, std::unique_ptr<PreparedModule>, std::less<>> modules_;
};

}  // namespace trimtab::choosing
