// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Eight threads launch two hundred kernels a hundred thousand times, while libraries with kernels of their
// own come and go: every launch covers its threads, once. Most of all for ThreadSanitizer (scripts/test.sh
// --only threads).
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <memory>
#include <thread>

#include "runtime/launches/launcher.h"
#include "tests/runtime/fake_backend.h"

namespace trimtab::runtime {
namespace {

using testing::driver_script;
using testing::FakeBundle;
using testing::FakeFatBinary;

constexpr int thread_count = 8, kernel_count = 200, launch_count = 100000, library_count = 20;

// One loaded library: a fat binary with one kernel, and its bundle.
struct Library {
    Library(Registrations& to, Bundles& bundles, const analysis::KernelDescription& description, int number)
        : fat_binary("fat binary " + std::to_string(number)), bundle(description, fat_binary.hash()) {
        bundles.add(&bundle.bundle());
        to.forget_plans(nullptr);
        handle = to.add_fat_binary(fat_binary.wrapper());
        to.add_function(handle, &host_function, description.name.c_str());
    }
    FakeFatBinary fat_binary;
    FakeBundle bundle;
    void** handle = nullptr;
    char host_function = 0;
};

TEST(LaunchStress, ThreadsLaunchWhileLibrariesComeAndGo) {
    driver_script().predict = [](const double* data, trimtab_dim3 block) {
        const bool even = static_cast<long>(data[0]) % 2 == 0;
        return (block.x == 128) == even ? 1.0 : 2.0;
    };
    driver_script().doubt = 0;
    driver_script().select_result = 1;
    driver_script().best = {128, 1, 1};

    const analysis::KernelDescription description = testing::guarded_kernel();
    BackendCalls calls = testing::fake_calls();
    const Settings settings;
    Log log(LogLevel::off);
    Bundles bundles(log);
    Report report("", log);
    Registrations registrations;
    Launcher launcher(settings, calls, bundles, report, log);
    std::deque<Library> libraries;
    for (int i = 0; i < kernel_count; ++i) libraries.emplace_back(registrations, bundles, description, i);

    std::atomic<int> wrong = 0, launched = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < thread_count; ++t) {
        threads.emplace_back([&, t] {
            int step = t, bound = 10;
            float* out = nullptr;
            for (int i = 0; i < launch_count / thread_count; ++i) {
                int n = i % 3 == 0 ? 500 + (i * 7 + t) % 8000 : 100 + i % 16;
                void* arguments[4] = {&n, static_cast<void*>(&out), &step, &bound};
                const auto blocks = static_cast<std::uint32_t>((n + 31) / 32);
                const LaunchShape shape{
                    .written = {.grid = {blocks, 1, 1}, .block = {32, 1, 1}, .dynamic_shared_bytes = 0},
                    .arguments = arguments};
                const auto& library = libraries[static_cast<std::size_t>((i * 13 + t) % kernel_count)];
                RegisteredKernel* kernel = registrations.find(&library.host_function);
                launcher.launch(kernel, shape, nullptr,
                                [&](const trimtab_dim3& grid, const trimtab_dim3& block, std::uint64_t) {
                                    const bool as_written = block.x == 32 && grid.x == blocks;
                                    const bool chosen = block.x == 128 && grid.x == (blocks * 32 + 127) / 128;
                                    if (n % 2 == 0 ? !chosen : !as_written) ++wrong;
                                    ++launched;
                                    return cudaSuccess;
                                });
            }
        });
    }
    // Meanwhile: kernels of other libraries, launched, and gone again.
    std::deque<Library> passing;
    for (int i = 0; i < library_count; ++i) {
        Library& library = passing.emplace_back(registrations, bundles, description, kernel_count + i);
        int n = 1000, step = 0, bound = 10;
        float* out = nullptr;
        void* arguments[4] = {&n, static_cast<void*>(&out), &step, &bound};
        const LaunchShape shape{
            .written = {.grid = {32, 1, 1}, .block = {32, 1, 1}, .dynamic_shared_bytes = 0},
            .arguments = arguments};
        launcher.launch(registrations.find(&library.host_function), shape, nullptr,
                        [&](const trimtab_dim3&, const trimtab_dim3& block, std::uint64_t) {
                            if (block.x != 128) ++wrong;
                            return cudaSuccess;
                        });
        bundles.remove(&library.bundle.bundle());
        registrations.forget_plans(&library.bundle.bundle());
        registrations.remove_fat_binary(library.handle);
        if (registrations.find(&library.host_function) != nullptr) ++wrong;
    }
    threads.clear();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(launched, launch_count);
}

}  // namespace
}  // namespace trimtab::runtime
