// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels run under a checker.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "emulation/emulator/check/checker.h"
#include "tests/emulation/emulator/compile.h"
#include "tests/emulation/emulator/fixture.h"

namespace trimtab::emulator::check::test {

class Checked : public testing::Test {
  protected:
    void load(std::string_view source, std::string_view flags = "-O1 -gline-tables-only");

    // The array as cudaMalloc would give it: what is in it counts as written only where `is_written`.
    template <class T>
    T* device(std::vector<T>& array, bool is_written = true) {
        T* const start = memory_.add(array);
        checker_->allocated(start, array.size() * sizeof(T), true);
        if (is_written) checker_->filled(start, array.size() * sizeof(T));
        return start;
    }
    template <class... T>
    void launch(std::string_view kernel, const emulator::test::Grid& grid, const T&... arguments) {
        launch_packed(kernel, grid, emulator::test::Parameters(arguments...));
    }
    void launch_packed(std::string_view kernel, const emulator::test::Grid& grid,
                       const emulator::test::Parameters& parameters);
    // "check: kind at line", sorted.
    [[nodiscard]] std::vector<std::string> found() const;
    [[nodiscard]] const Report& only_report();

    std::unique_ptr<Checker> checker_ =
        std::make_unique<Checker>(Checks{.memory = true, .race = true, .init = true, .sync = true});
    emulator::test::HostMemory memory_;
    std::shared_ptr<Program> program_;
    std::vector<Report> reports_;
    bool faulted_ = false;
};

}  // namespace trimtab::emulator::check::test
