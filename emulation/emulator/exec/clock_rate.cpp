// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/clock_rate.h"

#include <utility>

namespace trimtab::emulator {
namespace {

double& rate() {
    thread_local double rate = 0;
    return rate;
}

}  // namespace

ClockRate::ClockRate(double cycles_per_instruction)
    : before_(std::exchange(rate(), cycles_per_instruction)) {}

ClockRate::~ClockRate() {
    rate() = before_;
}

double ClockRate::cycles_per_instruction() {
    return rate();
}

}  // namespace trimtab::emulator
