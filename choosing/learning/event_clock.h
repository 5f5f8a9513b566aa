// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// By what launches are timed where they run: events of an interface, recorded in a stream before and after them and asked for at
// later launches. Nothing is waited for.
#pragma once

#include <cstdint>
#include <functional>

namespace trimtab::choosing {

class EventClock {
  public:
    // As the interface names them.
    using Event = void*;
    using Stream = void*;
    enum class State : std::uint8_t { reached, under_way, failed };

    EventClock() = default;
    virtual ~EventClock() = default;
    EventClock(const EventClock&) = delete;
    EventClock& operator=(const EventClock&) = delete;

    // Both or, where it answers false, neither.
    [[nodiscard]] virtual bool create(Event& begin, Event& end) = 0;
    [[nodiscard]] virtual bool record(Event event, Stream stream) = 0;
    // The time from one event to the other, once that is reached.
    [[nodiscard]] virtual State elapsed(Event begin, Event end, double& ns) = 0;
    // `asks` creates events or asks for times, which must disturb nothing that other threads of the program do.
    virtual void undisturbed(const std::function<void()>& asks) { asks(); }
};

}  // namespace trimtab::choosing
