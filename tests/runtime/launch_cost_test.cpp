// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A remembered choice takes no lock and no memory, and what is remembered stays bounded: counted in a program
// that puts its own allocation and lock functions before the libraries'.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "runtime/launches/launcher.h"
#include "tests/runtime/fake_backend.h"

namespace {

thread_local bool counting = false;
thread_local long allocations = 0, locks = 0;
std::atomic<long> live_bytes = 0;

using Lock = int (*)(pthread_mutex_t*);
std::atomic<Lock> real_lock = nullptr;

constexpr std::size_t header_bytes = 16;  // keeps malloc's alignment

}  // namespace

// NOLINTBEGIN(misc-new-delete-overloads): new[] comes here too; the runtime aligns nothing further
void* operator new(std::size_t size) {
    if (counting) ++allocations;
    auto* memory = static_cast<std::byte*>(std::malloc(size + header_bytes));
    if (memory == nullptr) throw std::bad_alloc();
    *reinterpret_cast<std::size_t*>(memory) = size;
    live_bytes += static_cast<long>(size);
    return memory + header_bytes;
}
void operator delete(void* pointer) noexcept {
    if (pointer == nullptr) return;
    auto* memory = static_cast<std::byte*>(pointer) - header_bytes;
    live_bytes -= static_cast<long>(*reinterpret_cast<std::size_t*>(memory));
    std::free(memory);
}
void operator delete(void* pointer, std::size_t) noexcept {
    operator delete(pointer);
}
// NOLINTEND(misc-new-delete-overloads)

// std::mutex locks by this.
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
    if (counting) ++locks;
    Lock lock = real_lock.load();
    if (lock == nullptr) {
        lock = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
        real_lock = lock;
    }
    return lock(mutex);
}

namespace trimtab::runtime {
namespace {

using testing::driver_script;

class LaunchCostTest : public ::testing::Test {
  protected:
    void SetUp() override {
        driver_script().predict = [](const double*, trimtab_dim3 block) { return 1000.0 - block.x; };
        driver_script().doubt = 0;
        driver_script().select_result = 1;
        driver_script().best = {128, 1, 1};
        bundles_.add(&bundle_.bundle());
        registrations_.add_function(registrations_.add_fat_binary(fat_binary_.wrapper()), &host_function_,
                                    description_.name.c_str());
    }
    trimtab_dim3 launch(int n) {
        n_ = n;
        trimtab_dim3 launched{};
        const LaunchShape shape{
            .written = {.grid = {32, 1, 1}, .block = {32, 1, 1}, .dynamic_shared_bytes = 0},
            .arguments = arguments_};
        launcher_.launch(registrations_.find(&host_function_), shape, nullptr,
                         [&](const trimtab_dim3&, const trimtab_dim3& block, std::uint64_t) {
                             launched = block;
                             return cudaSuccess;
                         });
        return launched;
    }

    analysis::KernelDescription description_ = testing::guarded_kernel();
    testing::FakeFatBinary fat_binary_{"a fat binary"};
    testing::FakeBundle bundle_{description_, fat_binary_.hash()};
    BackendCalls calls_ = testing::fake_calls();
    Settings settings_;
    Log log_{LogLevel::off};
    Bundles bundles_{log_};
    Report report_{"", log_};
    Registrations registrations_;
    Launcher launcher_{settings_, calls_, bundles_, report_, log_};
    char host_function_ = 0;
    int n_ = 0, step_ = 1, bound_ = 10;
    float* out_ = nullptr;
    void* arguments_[4] = {&n_, static_cast<void*>(&out_), &step_, &bound_};
};

TEST_F(LaunchCostTest, ARememberedChoiceTakesNoLockAndNoAllocation) {
    counting = true;
    launch(1000);
    counting = false;
    // The counters do count: a first launch needs both.
    ASSERT_GT(allocations, 0);
    ASSERT_GT(locks, 0);
    launch(999);
    allocations = locks = 0;
    counting = true;
    bool all_chosen = true;
    for (int i = 0; i < 1000; ++i) all_chosen = launch(999 + i % 2).x == 128 && all_chosen;
    counting = false;
    EXPECT_TRUE(all_chosen);
    EXPECT_EQ(allocations, 0);
    EXPECT_EQ(locks, 0);
}

TEST_F(LaunchCostTest, MemoryIsBoundedHoweverManyDataAreSeen) {
    for (int n = 0; n < 10000; ++n) launch(n);
    const long before = live_bytes;
    for (int n = 10000; n < 200000; ++n) launch(n);
    EXPECT_EQ(live_bytes, before);
}

}  // namespace
}  // namespace trimtab::runtime
