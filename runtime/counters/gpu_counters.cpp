// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/counters/gpu_counters.h"

#include <dlfcn.h>

#include <array>
#include <utility>

#include "choosing/own_files.h"

namespace trimtab::runtime {
namespace {

constexpr const char* library_name = "libtrimtab_gpu_counters.so";
constexpr std::size_t most_why_bytes = 512;

}  // namespace

std::expected<GpuCounters, std::string> GpuCounters::open(const BackendCalls& calls, unsigned use) {
    std::string error;
    void* const handle = choosing::open_own_library(library_name, error);
    if (handle == nullptr) return std::unexpected(error);
    Library library;
    const auto find = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
        return function != nullptr;
    };
    if (!find(library.open, "trimtab_open_counters") || !find(library.chip, "trimtab_counted_chip") ||
        !find(library.count, "trimtab_count_launch") || !find(library.close, "trimtab_close_counters"))
        return std::unexpected(std::string(library_name) + " is of another version");
    CUcontext context = nullptr;
    int ordinal = 0;
    if (calls.driver.context_get_current == nullptr ||
        calls.driver.context_get_current(&context) != CUDA_SUCCESS || context == nullptr ||
        calls.get_device(&ordinal) != cudaSuccess)
        return std::unexpected("counters are read in a context of CUDA's, and the launch has none");
    std::array<char, most_why_bytes> why{};
    void* const session =
        library.open(context, static_cast<std::size_t>(ordinal), use, why.data(), why.size());
    if (session == nullptr) return std::unexpected(std::string(why.data()));
    return GpuCounters(library, session);
}

GpuCounters::GpuCounters(GpuCounters&& other) noexcept
    : library_(other.library_),
      session_(std::exchange(other.session_, nullptr)),
      chip_(std::move(other.chip_)) {}

GpuCounters::~GpuCounters() {
    if (session_ != nullptr) library_.close(session_);
}

std::expected<std::map<std::string, double>, std::string> GpuCounters::count(
    const std::function<bool()>& restore, const std::function<bool()>& launch) const {
    struct Own {
        const std::function<bool()>& restore;
        const std::function<bool()>& launch;
        std::map<std::string, double> counted = {};
    } own{.restore = restore, .launch = launch};
    const TrimtabCountedLaunch counted{
        .own = &own,
        .restore = [](void* of) { return static_cast<Own*>(of)->restore(); },
        .launch = [](void* of) { return static_cast<Own*>(of)->launch(); },
        .take = [](void* of, const char* counter,
                   double value) { static_cast<Own*>(of)->counted[counter] = value; }};
    std::array<char, most_why_bytes> why{};
    if (!library_.count(session_, &counted, why.data(), why.size()))
        return std::unexpected(std::string(why.data()));
    return std::move(own.counted);
}

}  // namespace trimtab::runtime
