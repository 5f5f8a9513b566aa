// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libtrimtab_crosscheck.so, asked as the runtime asks it: fat binaries made by hand, launches with pointers that are
// addresses and nothing more, and everything that can go wrong.
#include "choosing/crosscheck/emulated_times.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/model/device.h"

namespace trimtab::choosing {
namespace {

using ::testing::HasSubstr;

// One container with one image of PTX for sm_75, as the toolkit lays it out.
std::vector<std::byte> fat_binary_of(const std::string& ptx, unsigned kind = 1) {
    constexpr std::size_t header_bytes = 16, image_header_bytes = 64;
    const std::size_t payload = (ptx.size() + 8) / 8 * 8;
    std::vector<std::byte> out(header_bytes + image_header_bytes + payload);
    const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
        std::memcpy(&out[at], &value, size);
    };
    put(0, 0xba55ed50, 4);
    put(4, 1, 2);
    put(6, header_bytes, 2);
    put(8, image_header_bytes + payload, 8);
    put(16, kind, 2);
    put(20, image_header_bytes, 4);
    put(24, payload, 8);
    put(44, 75, 4);
    std::memcpy(&out[header_bytes + image_header_bytes], ptx.data(), ptx.size());
    return out;
}

std::string kernel_with(const std::string& body) {
    return ".version 8.0\n.target sm_75\n.address_size 64\n"
           ".visible .entry k(.param .u64 k_a, .param .u32 k_n)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<20>;\n"
           ".reg .f32 %f<9>;\n.reg .b64 %rd<20>;\nld.param.u64 %rd1, [k_a];\nld.param.u32 %r1, [k_n];\n"
           "mov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmad.lo.s32 %r5, %r3, %r4, "
           "%r2;\nsetp.ge.s32 %p1, %r5, %r1;\n@%p1 bra end;\n" +
           body + "\nend: ret;\n}\n";
}

const std::string streams = kernel_with(
    "mul.wide.s32 %rd2, %r5, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\n"
    "add.f32 %f2, %f1, %f1;\nst.global.f32 [%rd3], %f2;");
// Each thread its own row of 256: what neighbours read lies a kilobyte apart.
const std::string rows = kernel_with(
    "mul.wide.s32 %rd2, %r5, 1024;\nadd.s64 %rd3, %rd1, %rd2;\nmov.u32 %r6, 0;\nmov.f32 %f2, 0f00000000;\n"
    "again: ld.global.f32 %f1, [%rd3];\nadd.f32 %f2, %f2, %f1;\nadd.s64 %rd3, %rd3, 4;\nadd.s32 %r6, %r6, "
    "1;\n"
    "setp.lt.s32 %p2, %r6, 256;\n@%p2 bra again;\nst.global.f32 [%rd3+-4], %f2;");

class EmulatedTimes : public ::testing::Test {
  protected:
    EmulatedTimes() : device_(*model::find_device("rtx2070super")) {
        image_.registers_per_thread = 16;
        image_.max_threads_per_block = 1024;
    }

    std::int32_t ask(const std::vector<std::byte>& code, const char* kernel = "k") {
        std::array<std::byte, 16> parameters{};
        std::memcpy(&parameters[0], &address_, 8);
        std::memcpy(&parameters[8], &n_, 4);
        launches_.clear();
        for (const std::uint32_t width : widths_)
            launches_.push_back(
                {.launch = {.grid = {(n_ + width - 1) / width, 1, 1}, .block = {width, 1, 1}}});
        EmulationQuestion question;
        question.launch_count = static_cast<std::uint32_t>(launches_.size());
        question.code = code.data();
        question.code_bytes = code.size();
        question.kernel = kernel;
        question.device = &device_.values;
        question.image = &image_;
        question.parameters = parameters.data();
        question.parameter_bytes = parameters.size();
        question.launches = launches_.data();
        question.is_called_off = [](const void* self) {
            const auto* test = static_cast<const EmulatedTimes*>(self);
            return ++test->looks_ > test->most_looks_;
        };
        question.context = this;
        if (spoil_) spoil_(question);
        std::array<char, 256> why{};
        const std::int32_t answer = trimtab_emulate_times(&question, why.data(), why.size());
        why_ = why.data();
        return answer;
    }

    model::Device device_;
    trimtab_image image_{};
    std::uint64_t address_ = std::uint64_t{1} << 40;
    std::uint32_t n_ = 1u << 20;
    std::vector<std::uint32_t> widths_{32, 128, 256};
    std::vector<LaunchToEmulate> launches_;
    std::function<void(EmulationQuestion&)> spoil_;
    mutable std::uint64_t looks_ = 0;
    std::uint64_t most_looks_ = UINT64_MAX;
    std::string why_;
};

TEST_F(EmulatedTimes, AStreamTakesAboutWhatTheMemoryAllows) {
    ASSERT_EQ(ask(fat_binary_of(streams)), emulation_done) << why_;
    // 4 MiB are read.
    const double least_ns = 4.0 * n_ / device_.values.dram_bytes_per_s * 1e9;
    for (const LaunchToEmulate& launch : launches_) {
        EXPECT_GT(launch.ns, least_ns);
        EXPECT_LT(launch.ns, 6 * least_ns);
    }
    // Blocks of one warp leave half of the SM's places for warps empty.
    EXPECT_GT(launches_[0].ns, 1.2 * launches_[1].ns);
    const double again = launches_[0].ns;
    ASSERT_EQ(ask(fat_binary_of(streams)), emulation_done);
    EXPECT_EQ(launches_[0].ns, again);
}

TEST_F(EmulatedTimes, RowsApartTakeLonger) {
    n_ = 1u << 14;
    ASSERT_EQ(ask(fat_binary_of(rows)), emulation_done) << why_;
    const double apart = launches_[1].ns;
    ASSERT_EQ(ask(fat_binary_of(streams)), emulation_done) << why_;
    EXPECT_GT(apart, 20 * launches_[1].ns);
}

TEST_F(EmulatedTimes, AKernelThatMemoryDecidesIsNotJudged) {
    const std::string gather = kernel_with(
        "mul.wide.s32 %rd2, %r5, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.s32 %r6, [%rd3];\n"
        "mul.wide.s32 %rd4, %r6, 4;\nadd.s64 %rd5, %rd1, %rd4;\nst.global.u32 [%rd5], %r1;");
    EXPECT_EQ(ask(fat_binary_of(gather)), emulation_says_nothing);
    EXPECT_THAT(why_, HasSubstr("depends on memory"));
}

TEST_F(EmulatedTimes, AFaultIsNoTime) {
    address_ = 0;
    EXPECT_EQ(ask(fat_binary_of(kernel_with("ld.global.f32 %f1, [%rd1];\nst.global.f32 [%rd1+4], %f1;"))),
              emulation_failed);
    EXPECT_THAT(why_, HasSubstr("illegal address"));
    EXPECT_EQ(why_.find('\n'), std::string::npos);
}

TEST_F(EmulatedTimes, AKernelWithoutAnEndEndsAtTheBudget) {
    const std::string for_ever = kernel_with(
        "mov.u32 %r6, 0;\nagain: add.s32 %r6, %r6, 2;\nsetp.ne.s32 %p2, %r6, 1;\n@%p2 bra again;");
    EXPECT_EQ(ask(fat_binary_of(for_ever)), emulation_failed);
    EXPECT_THAT(why_, HasSubstr("the limit of 20000000 warp instructions is reached"));
}

TEST_F(EmulatedTimes, ItEndsSoonAfterItIsCalledOff) {
    const std::string long_loop = kernel_with(
        "mov.u32 %r6, 0;\nagain: add.s32 %r6, %r6, 1;\nsetp.lt.s32 %p2, %r6, 1000000;\n@%p2 bra again;");
    most_looks_ = 3;
    EXPECT_EQ(ask(fat_binary_of(long_loop)), emulation_called_off);
    EXPECT_LT(looks_, 10u);
    looks_ = most_looks_ = 0;
    EXPECT_EQ(ask(fat_binary_of(streams)), emulation_called_off);
}

TEST_F(EmulatedTimes, WhatIsNoProgramIsNotJudged) {
    EXPECT_EQ(ask(fat_binary_of("this is no PTX")), emulation_says_nothing);
    EXPECT_EQ(ask(fat_binary_of(streams), "another"), emulation_says_nothing);
    EXPECT_THAT(why_, HasSubstr("another"));
    EXPECT_EQ(ask(fat_binary_of(std::string(200, 'x'), 2)), emulation_says_nothing);  // machine code alone
    EXPECT_THAT(why_, HasSubstr("no PTX"));
    auto cut = fat_binary_of(streams);
    cut.resize(cut.size() / 2);
    EXPECT_EQ(ask(cut), emulation_says_nothing);
    EXPECT_EQ(ask(std::vector<std::byte>(64)), emulation_says_nothing);
}

TEST_F(EmulatedTimes, PtxAloneIsTheSameCode) {
    ASSERT_EQ(ask(fat_binary_of(streams)), emulation_done) << why_;
    const auto of_fat_binary = launches_;
    const auto bytes = std::as_bytes(std::span(streams));
    ASSERT_EQ(ask({bytes.begin(), bytes.end()}), emulation_done) << why_;
    for (std::size_t i = 0; i < launches_.size(); ++i) EXPECT_EQ(launches_[i].ns, of_fat_binary[i].ns);
}

TEST_F(EmulatedTimes, ABlockThatDoesNotFitHasNoTime) {
    image_.registers_per_thread = 255;
    widths_ = {1024};
    EXPECT_EQ(ask(fat_binary_of(streams)), emulation_failed);
    EXPECT_THAT(why_, HasSubstr("does not fit"));
}

TEST_F(EmulatedTimes, AnotherVersionsQuestionIsRefused) {
    spoil_ = [](EmulationQuestion& question) { question.struct_bytes -= 8; };
    EXPECT_EQ(ask(fat_binary_of(streams)), emulation_is_of_another_version);
}

}  // namespace
}  // namespace trimtab::choosing
