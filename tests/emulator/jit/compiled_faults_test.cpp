// Launches of compiled code that do not come to their end.
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>

#include "tests/emulator/jit/compiled.h"

namespace trimtab::emulator::test {
namespace {

TEST_F(Compiled, AnAddressOutsideNamesTheKernelThreadAndLine) {
    std::vector<std::uint32_t> data(100, 1);
    HostMemory memory;
    const Parameters parameters(memory.add(data), std::uint32_t{128});
    const auto program = load(scale);
    const auto done = try_run(*program, memory, "scale", {{1, 1, 1}, {128, 1, 1}, 0, 1}, parameters);
    ASSERT_TRUE(is_compiled(*program, "scale", {128, 1, 1}));
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().kind, Fault::Kind::illegal_address);
    EXPECT_NE(done.error().message.find("kernel scale"), std::string::npos) << done.error().message;
    EXPECT_NE(done.error().message.find("thread (100,0,0)"), std::string::npos) << done.error().message;
}

// Memory whose owner throws where a range begins: from the interpreter, and from what compiled code calls.
class ThrowingMemory : public HostMemory {
  public:
    std::uint64_t throws_at = 0;
    [[nodiscard]] Range range_of(std::uint64_t address, Access access) override {
        if (address >= throws_at) throw std::runtime_error("the owner gives up");
        return HostMemory::range_of(address, access);
    }
};

TEST_F(Compiled, WhatIsThrownIsTheLaunchsFault) {
    std::vector<std::uint32_t> data(1000, 1);
    ThrowingMemory memory;
    const Parameters parameters(memory.add(data), std::uint32_t{1000});
    for (const char* mode : {"interpreter", "compiled"}) {
        for (const bool is_counted : {false, true}) {
            setenv("TRIMTAB_EMULATOR", mode, 1);
            const auto program = load(scale);
            LaunchRequest request;
            request.kernel = "scale";
            request.grid = {8, 1, 1};
            request.block = {128, 1, 1};
            request.parameters = parameters.bytes();
            request.threads = 2;
            request.counting.count = is_counted;
            memory.throws_at = 0;
            const auto done = launch(*program, memory, request);
            ASSERT_FALSE(done.has_value()) << mode;
            EXPECT_EQ(done.error().kind, Fault::Kind::host) << mode;
            EXPECT_NE(done.error().message.find("kernel scale"), std::string::npos) << done.error().message;
            EXPECT_NE(done.error().message.find("the owner gives up"), std::string::npos)
                << done.error().message;
            // Nothing of it is left for the next launch.
            memory.throws_at = ~std::uint64_t{0};
            EXPECT_TRUE(launch(*program, memory, request).has_value()) << mode;
        }
    }
    EXPECT_EQ(data, std::vector<std::uint32_t>(1000, 81));
}

TEST_F(Compiled, ALoopWithoutEndMeetsTheLimit) {
    const auto program =
        load(".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry endless()\n{\nL: bra L;\n}\n");
    HostMemory memory;
    LaunchRequest request;
    request.kernel = "endless";
    request.block = {32, 1, 1};
    request.instruction_limit = 1'000'000;
    const auto done = launch(*program, memory, request);
    ASSERT_FALSE(done.has_value());
    EXPECT_EQ(done.error().kind, Fault::Kind::limit);
}

}  // namespace
}  // namespace trimtab::emulator::test
