// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The texture and surface objects of a capture in its file: docs/captures.md, "The format".
#pragma once

#include <string_view>

#include "emulation/emulator/capture/capture.h"
#include "emulation/emulator/capture/contents.h"

namespace trimtab::emulator::capture {

void write_objects(Writer& contents, const Capture& capture);
void read_objects(Reader& reader, Capture& out);
// What an object would have to be for a kernel to read through it; empty: each is.
[[nodiscard]] std::string_view defect_of_objects(const Capture& capture);

}  // namespace trimtab::emulator::capture
