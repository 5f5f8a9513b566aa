// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// H at run time: the description of each device that the backend offers.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "choosing/known_device.h"
#include "choosing/log.h"
#include "runtime/stand_in/backend.h"

namespace trimtab::runtime {

class KnownDevices {
  public:
    KnownDevices(const BackendCalls& calls, choosing::Log& log);

    // The current device's ordinal; a process with one device is not asked again.
    [[nodiscard]] std::uint32_t current() const;
    // Null where CUDA does not answer: one warning, and it is asked again later.
    [[nodiscard]] std::shared_ptr<const choosing::KnownDevice> device(std::uint32_t ordinal);

  private:
    [[nodiscard]] std::shared_ptr<const choosing::KnownDevice> describe(std::uint32_t ordinal) const;
    // Is device `ordinal`, which could not be described before, to be asked for again now? Ever more seldom.
    [[nodiscard]] bool is_due(std::uint32_t ordinal);

    const BackendCalls& calls_;
    choosing::Log& log_;
    int count_ = 0;
    std::mutex mutex_;
    std::map<std::uint32_t, std::shared_ptr<const choosing::KnownDevice>>
        devices_;  // that could be described
    std::map<std::uint32_t, std::uint64_t> asked_in_vain_;
};

}  // namespace trimtab::runtime
