// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// As bounds_test.cpp, on more devices and in more shapes.
#include "tests/emulation/schedule/generated_kernels.h"

namespace trimtab::schedule {
namespace {

class EveryDevice : public testing::TestWithParam<const char*> {};

TEST_P(EveryDevice, BoundsHold) {
    for (const double sms : {1.0, 41.0, 160.0})
        for (const std::uint32_t threads : {32u, 96u, 1024u})
            for (const std::uint64_t blocks : {1u, 5u, 70u})
                for (const std::uint32_t iterations : {100u, 3000u})
                    answers_keep_within(with_sms(GetParam(), sms), threads, blocks, iterations);
}

INSTANTIATE_TEST_SUITE_P(Bounds, EveryDevice,
                         testing::Values("c2050", "k20c", "gtx1080ti", "rtx2070super", "rtx3090", "h100"));

}  // namespace
}  // namespace trimtab::schedule
