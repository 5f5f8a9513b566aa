// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Advice's second opinion: a launch of a program that has ended, emulated anew from its record (emulation/schedule/).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/device.h"
#include "emulation/emulator/exec/launch.h"
#include "emulation/emulator/exec/memory.h"
#include "emulation/schedule/settings.h"
#include "emulation/schedule/traced_launch.h"
#include "tools/advice/second_opinion.h"
#include "tools/trimtab/kernel_file.h"

namespace trimtab::tools {

// What the program's memory held is gone: arrays are filled deterministically, by their types, as `trimtab emulate`
// fills them. A launch that then does otherwise than its record says is not emulated. So that a report is never long in
// coming, all questions together have a budget of work.
class EmulatedOpinion : public advice::SecondOpinion {
  public:
    // Of `file`, which must outlive it, for launches on the device.
    EmulatedOpinion(const KernelFile& file, model::Device device, schedule::Settings settings = {})
        : file_(file), device_(std::move(device)), settings_(std::move(settings)) {}

    [[nodiscard]] std::expected<double, std::string> time_ns(const emulator::LaunchProfile& profile,
                                                             const advice::Question& asked,
                                                             std::span<const schedule::Edit> edits) override;
    [[nodiscard]] std::expected<advice::LaunchPatterns, std::string> patterns(
        const emulator::LaunchProfile& profile) override;

  private:
    struct Kernel {
        const FileKernel* found = nullptr;
        std::shared_ptr<emulator::Program> program;
    };
    struct Again {  // a launch that can be run again
        Kernel kernel;
        std::vector<std::byte> parameters;
    };
    [[nodiscard]] std::expected<Again, std::string> again(const emulator::LaunchProfile& profile) const;
    [[nodiscard]] emulator::LaunchRequest request_of(const emulator::LaunchProfile& profile,
                                                     const Again& launch) const;
    [[nodiscard]] schedule::TraceRequest trace_request(const Again& launch, emulator::SparseMemory& memory,
                                                       const emulator::LaunchProfile& profile,
                                                       const advice::Question& asked, std::uint32_t resident,
                                                       std::span<const schedule::Edit> edits) const;
    // Made ready once for all questions about a launch.
    [[nodiscard]] const std::expected<Again, std::string>& look_at(const emulator::LaunchProfile& profile);
    // Nothing where what is run now does what the record says.
    [[nodiscard]] std::optional<std::string> differs(const emulator::LaunchProfile& profile,
                                                     const Again& launch);
    // The same where such blocks are too long to be run whole.
    [[nodiscard]] std::optional<std::string> long_launch_differs(const emulator::LaunchProfile& profile,
                                                                 const Again& launch,
                                                                 std::span<const std::uint64_t> blocks);

    const KernelFile& file_;
    model::Device device_;
    schedule::Settings settings_;
    const emulator::LaunchProfile* last_ = nullptr;  // questions come launch by launch
    std::expected<Again, std::string> launch_ = std::unexpected(std::string());
    std::uint64_t work_ = 0;  // done so far
};

}  // namespace trimtab::tools
