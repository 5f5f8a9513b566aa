// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/emulation/emulator/check/fixture.h"

#include <algorithm>

namespace trimtab::emulator::check::test {

void Checked::load(std::string_view source, std::string_view flags) {
    program_ = emulator::test::load(emulator::test::compile_cuda(source, flags));
    ASSERT_NE(program_, nullptr);
}

void Checked::launch_packed(std::string_view kernel, const emulator::test::Grid& grid,
                            const emulator::test::Parameters& parameters) {
    LaunchRequest request;
    request.kernel = kernel;
    request.grid = grid.grid;
    request.block = grid.block;
    request.dynamic_shared_bytes = grid.shared_bytes;
    request.parameters = parameters.bytes();
    request.observer = checker_.get();
    checker_->begin_launch();
    faulted_ = !emulator::launch(*program_, memory_, request).has_value();
    checker_->end_launch();
    reports_ = checker_->reports();
}

std::vector<std::string> Checked::found() const {
    std::vector<std::string> all;
    for (const Report& report : reports_) {
        const std::string line = report.access.source.substr(report.access.source.rfind(':') + 1);
        all.push_back(report.check + ": " + report.kind + " at " + line);
    }
    std::sort(all.begin(), all.end());
    return all;
}

const Report& Checked::only_report() {
    static const Report none;
    EXPECT_EQ(reports_.size(), 1u) << testing::PrintToString(found());
    return reports_.empty() ? none : reports_.front();
}

}  // namespace trimtab::emulator::check::test
