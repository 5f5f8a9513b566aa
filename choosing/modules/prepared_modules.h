// Modules that the program loads while it runs (cuModuleLoadData, cudaLibraryLoadData and their like), the
// kernels that it takes from them, and where their driver programs come from: the program itself, or the
// cache of prepared modules, into which `trimtab prepare` puts what is missing while the program goes on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
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
#include "runtime/modules/registrations.h"

namespace trimtab::runtime {

// One module's content, however often it is loaded. Never destroyed: a launch may hold one of its kernels.
struct RunTimeModule {
    std::string hash;
    ModuleImage::Kind kind = ModuleImage::Kind::none;
    std::atomic<bool> settled = false;  // whether it has driver programs is known
    std::atomic<std::int64_t> next_look_ns = 0;

    std::mutex mutex;              // of what follows
    std::string reason;            // settled without driver programs: why
    std::vector<std::byte> bytes;  // until it is settled or handed to `trimtab prepare`
    bool was_started = false, was_waited_for = false;
    std::chrono::steady_clock::time_point started;

    std::size_t handles = 0;  // of the program's; under RunTimeModules' mutex, as are its kernels
    std::map<std::pair<std::string, HandleKind>, RegisteredKernel*> kernels;
};

class RunTimeModules {
  public:
    // Starts `trimtab prepare` for a file, with a file of annotations or none: empty, or why it could not be
    // started.
    using Starter = std::function<std::string(const std::string& source, const std::string& annotations)>;
    struct Limits {
        std::chrono::milliseconds between_looks{100};
        std::chrono::milliseconds longest_wait{120000};  // TRIMTAB_MODULES=wait, for one module
        std::chrono::milliseconds start_takes{10000};    // until `trimtab prepare` is at work
        std::size_t modules = 1024, kernels = 8192, handles = 16384;
        std::size_t bytes = std::size_t{64} << 20;  // of modules that are kept for preparing
        std::size_t started_at_once = 2;
    };

    RunTimeModules(const Settings& settings, Bundles& bundles, Registrations& registrations, Log& log,
                   ModuleCache cache, Starter starter, Limits limits);
    RunTimeModules(const Settings& settings, Bundles& bundles, Registrations& registrations, Log& log,
                   ModuleCache cache, Starter starter)
        : RunTimeModules(settings, bundles, registrations, log, std::move(cache), std::move(starter),
                         Limits{}) {}

    [[nodiscard]] bool is_on() const { return mode_ != ModulesMode::off; }
    // Beside its source: TRIMTAB_ANNOTATIONS.
    [[nodiscard]] bool annotates(std::string_view kernel) const { return annotations_.names(kernel); }

    // CUDA has loaded the image and calls it `handle`.
    void loaded(const void* handle, const ModuleImage& image);
    // Another name of it: a library's CUmodule.
    void same_module(const void* handle, const void* other_handle);
    // Before CUDA is told: none of its kernels is known any more.
    void unloading(const void* handle);
    // CUDA calls the module's kernel of that name `function`.
    void took_kernel(const void* handle, const void* function, const char* name, HandleKind kind);
    // The CUfunction of a kernel of a library, or of one that the program has registered.
    void same_kernel(const void* kernel, const void* function);

    // The module of a fat binary that the program has registered without driver programs; null: too many.
    [[nodiscard]] RunTimeModule* registered(const void* fat_binary);

    struct Found {
        Bundles::Found kernel;
        bool may_come = false;  // it is being prepared: look_again() says when
    };
    // Waits for it where TRIMTAB_MODULES=wait.
    [[nodiscard]] Found find(RunTimeModule& module, std::string_view kernel);
    // Has it been settled? Looks at the cache, though not at every call.
    [[nodiscard]] bool look_again(RunTimeModule& module);

  private:
    struct Handle {
        RunTimeModule* module = nullptr;
        std::vector<const void*> functions, others;  // others: further names of the module
    };
    // With the mutex held.
    [[nodiscard]] Handle* handle_of(const void* handle);
    void add_function(const void* handle, const void* function, const std::string& name, HandleKind kind);
    void forget_function(const void* function);
    void forget_handle(const void* handle);
    [[nodiscard]] RunTimeModule* module_of(const ModuleImage& image);
    void keep_bytes(RunTimeModule& module, std::span<const std::byte> bytes);
    void drop_bytes(RunTimeModule& module);
    // With the module's mutex held.
    void look(RunTimeModule& module);
    void settle(RunTimeModule& module, std::string reason);
    [[nodiscard]] bool take_from_cache(RunTimeModule& module);
    void look_at_preparation(RunTimeModule& module);
    void start(RunTimeModule& module);
    [[nodiscard]] std::string open_library(int file, const std::string& hash);
    [[nodiscard]] bool may_start(const std::string& hash);

    const ModulesMode mode_;
    Bundles& bundles_;
    Registrations& registrations_;
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
    std::map<std::string, std::unique_ptr<RunTimeModule>, std::less<>> modules_;
    std::map<const void*, Handle> handles_;
    std::map<const void*, const void*> owners_;  // of functions, and of modules that a library gave
    std::deque<RegisteredKernel> kernels_;
};

}  // namespace trimtab::runtime
