// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters of launches on the GPU of this process, by libtrimtab_gpu_counters.so.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <string>

#include "runtime/counters/counting_library.h"
#include "runtime/stand_in/backend.h"

namespace trimtab::runtime {

class GpuCounters {
  public:
    // On the calling thread's context. `use`: TrimtabCountedUse, of the kernel. The error, in one line.
    [[nodiscard]] static std::expected<GpuCounters, std::string> open(const BackendCalls& calls,
                                                                      unsigned use);
    GpuCounters(GpuCounters&& other) noexcept;
    GpuCounters& operator=(GpuCounters&&) = delete;
    ~GpuCounters();

    [[nodiscard]] const std::string& chip() const { return chip_; }
    // As RangeCounters::count of profiler/cupti: the launch is made as often as the counters take passes.
    [[nodiscard]] std::expected<std::map<std::string, double>, std::string> count(
        const std::function<bool()>& restore, const std::function<bool()>& launch) const;

  private:
    struct Library {
        decltype(&trimtab_open_counters) open = nullptr;
        decltype(&trimtab_counted_chip) chip = nullptr;
        decltype(&trimtab_count_launch) count = nullptr;
        decltype(&trimtab_close_counters) close = nullptr;
    };
    GpuCounters(const Library& library, void* session)
        : library_(library), session_(session), chip_(library.chip(session)) {}

    Library library_;
    void* session_;
    std::string chip_;
};

}  // namespace trimtab::runtime
