// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/device/outside_accesses.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace trimtab::emulator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct Said {
    std::vector<std::string> lines;
    OutsideAccesses::Say say = [this](const std::string& line) { lines.push_back(line); };
};

TEST(OutsideAccesses, EachKernelIsWarnedOfOnce) {
    Said said;
    OutsideAccesses accesses(nullptr, said.say);
    accesses.of("f")("first");
    accesses.of("f")("second");
    accesses.of("g")("third");
    EXPECT_THAT(said.lines, ElementsAre(StartsWith("first; "), StartsWith("third; ")));
}

TEST(OutsideAccesses, AreErrorsWhereTheVariableOrACheckSaysSo) {
    Said said;
    EXPECT_FALSE(OutsideAccesses("error", said.say).of("f"));
    EXPECT_TRUE(OutsideAccesses("warn", said.say).of("f"));
    EXPECT_TRUE(OutsideAccesses("", said.say).of("f"));
    OutsideAccesses checked("warn", said.say);
    checked.make_errors();
    EXPECT_FALSE(checked.of("f"));
    EXPECT_THAT(said.lines, ElementsAre());
    EXPECT_TRUE(OutsideAccesses("wran", said.say).of("f"));
    EXPECT_THAT(said.lines, ElementsAre(HasSubstr("TRIMTAB_OUT_OF_BOUNDS=wran: expected warn or error")));
}

}  // namespace
}  // namespace trimtab::emulator
