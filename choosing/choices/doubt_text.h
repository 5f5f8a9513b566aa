// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why a prediction is uncertain, for people.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "trimtab/driver.h"

namespace trimtab::choosing {

// "active_blocks comes out below 0 (tokens is below 256, the least that was profiled)". `doubt`: what the driver program
// says of a prediction at `data`; empty where it tells no more. The values of `data` are no part of it: reasons are kept.
[[nodiscard]] std::string doubt_text(const trimtab_driver& driver, std::span<const double> data,
                                     std::uint32_t doubt);

// "`trimtab profile -- PROGRAM ...` ...": what decides such launches; empty where nothing does.
[[nodiscard]] std::string doubt_advice(std::uint32_t doubt);

}  // namespace trimtab::choosing
