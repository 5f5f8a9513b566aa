// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/selection_quality/constants.h"

#include <gmock/gmock.h>

#include "core/model/performance_model.h"

namespace trimtab::bench {
namespace {

TEST(ModelConstants, AreJudgementsAndReadings) {
    model::RationalProgramBuilder builder("made");
    const model::Value x = builder.input("block.x");
    const model::Value time = x * builder.constant(32, "CUDA: a sector") + builder.constant(0.5, "judged") +
                              builder.constant(2.2, "read off saturated cases in the sweeps");
    const model::RationalProgram program = std::move(builder).finish(time, time < x);
    const auto constants = model_constants(program);
    ASSERT_EQ(constants.size(), 2u);
    EXPECT_DOUBLE_EQ(constants[0].value, 0.5);
    EXPECT_DOUBLE_EQ(constants[1].value, 2.2);
}

TEST(ModelConstants, EveryModelHasSome) {
    const auto program = model::performance_model(model::default_model);
    ASSERT_TRUE(program);
    EXPECT_GE(model_constants(**program).size(), 5u);
}

}  // namespace
}  // namespace trimtab::bench
