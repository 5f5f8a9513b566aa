// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Events of CUDA's driver, whose calls leave the runtime's last error as it is.
#pragma once

#include "choosing/learning/event_clock.h"
#include "runtime/stand_in/backend.h"

namespace trimtab::runtime {

class CudaEvents : public choosing::EventClock {
  public:
    explicit CudaEvents(const BackendCalls& calls) : calls_(calls) {}

    [[nodiscard]] bool create(Event& begin, Event& end) override;
    [[nodiscard]] bool record(Event event, Stream stream) override;
    [[nodiscard]] State elapsed(Event begin, Event end, double& ns) override;
    void undisturbed(const std::function<void()>& asks) override;

  private:
    const BackendCalls& calls_;
};

}  // namespace trimtab::runtime
