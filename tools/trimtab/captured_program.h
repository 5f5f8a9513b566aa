// --capture FILE in the place of a program: docs/captures.md.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::tools {

// The program that makes the captured launch, with its arguments: FILE. Sets
// TRIMTAB_DEVICE to the device of the capture where `device` and the environment name none. The error: the file is
// no capture, or the device is a GPU, whose memory cannot be put where the launch had it.
[[nodiscard]] std::expected<std::vector<std::string>, Error> captured_program(const std::string& file,
                                                                              const std::string& device);

}  // namespace trimtab::tools
