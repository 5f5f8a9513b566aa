// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program's launch, captured, and commands on the file.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "core/base/temporary_folder.h"
#include "emulation/emulator/capture/capture.h"
#include "tests/shell_command.h"

namespace {

namespace capture = trimtab::emulator::capture;
using ::testing::AllOf;
using ::testing::HasSubstr;

using trimtab::test::Outcome;

Outcome run(const std::string& command) {
    return trimtab::test::run("-u TRIMTAB_DEVICE", command);
}

const std::string trimtab = TRIMTAB_BINARY_DIR "/bin/trimtab",
                  replay = TRIMTAB_BINARY_DIR "/libexec/trimtab-replay";

class Replay : public ::testing::Test {
  protected:
    std::string file(const std::string& name) const { return folder_->file(name); }
    Outcome captured(const std::string& which, const std::string& arguments,
                     const std::string& more = "") const {
        return run("TRIMTAB_DEVICE=k20c TRIMTAB_CAPTURE=" + which + " TRIMTAB_CAPTURE_FILE=" +
                   file("a.capture") + " " + more + " " TRIMTAB_PROGRAM " " + arguments);
    }
    // Of a kernel whose mangled name begins so.
    std::string profile_in(const std::string& name, const std::string& kernel = "_Z4step") const {
        std::ifstream lines(file(name));
        for (std::string line; std::getline(lines, line);)
            if (line.find(kernel) != std::string::npos) return line;
        return "";
    }

    std::expected<trimtab::base::TemporaryFolder, trimtab::Error> folder_ =
        trimtab::base::TemporaryFolder::make();
};

}  // namespace
