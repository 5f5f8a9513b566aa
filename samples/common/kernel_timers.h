// KernelTimers: the device times of the kernels of a program that has many.
#pragma once

#include <deque>
#include <string>

#include "kernel_timer.h"

namespace sample {

class KernelTimers {
  public:
    // Runs `launch`, which launches the kernel of that name, and adds its time to that kernel's.
    template <typename Launch>
    void time(const char* kernel_name, Launch&& launch) {
        KernelTimer& timer = of(kernel_name);
        timer.start();
        launch();
        timer.stop();
    }

    // In the order of the first launches.
    void print() const {
        for (const Named& each : timers_) each.timer.print();
    }

  private:
    struct Named {
        explicit Named(const char* kernel_name) : name(kernel_name), timer(kernel_name) {}
        std::string name;
        KernelTimer timer;
    };

    KernelTimer& of(const char* kernel_name) {
        for (Named& each : timers_)
            if (each.name == kernel_name) return each.timer;
        return timers_.emplace_back(kernel_name).timer;
    }

    std::deque<Named> timers_;
};

}  // namespace sample
