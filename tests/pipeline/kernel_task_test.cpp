// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's task comes to the same by way of messages as without.
#include "pipeline/workers/kernel_task.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/analysis/describe.h"
#include "emulation/emulator/exec/launch.h"
#include "pipeline/workers/message.h"
#include "pipeline/workers/pool.h"
#include "profiler/emulator_backend.h"
#include "tests/pipeline/ptx_kernels.h"

namespace trimtab::workers {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class KernelTask : public testing::Test {
  protected:
    void SetUp() override {
        const std::string text = tests::ptx_of_kernels(2);
        const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
        binary_.hash = "00000000000000b1";
        binary_.images.push_back({.kind = ptx::FatBinaryImage::Kind::ptx,
                                  .architecture = 75,
                                  .architecture_name = "sm_75",
                                  .bytes = {bytes, bytes + text.size()},
                                  .compression = "none"});
        auto described = analysis::describe_fat_binary(binary_, {}, "kernels.ptx");
        ASSERT_TRUE(described) << described.error().text();
        kernels_ = std::move(described->kernels);
        ASSERT_EQ(kernels_.size(), 2U);
        auto program = emulator::load_program(std::move(described->modules.front()));
        ASSERT_TRUE(program);
        backend_ = profiler::make_emulator_backend(std::move(*program));
        options_.plan = {.least = 16, .most = 64};
        hand_.take(sent(json(shared()->head)), shared()->body);
    }
    [[nodiscard]] std::shared_ptr<const Shared> shared() const {
        return shared_program(binary_, "kernels.ptx");
    }
    // As the other side of a pipe has it.
    json sent(json head) const {
        if (!head.contains("do")) head["shared"] = binary_.hash;
        MessageReader reader;
        reader.add(encode(head));
        return reader.next().value().value().head;
    }
    std::expected<json, Error> work(const analysis::KernelDescription& kernel,
                                    const std::optional<profiler::Profile>& known = std::nullopt) {
        return hand_.work(sent(kernel_task(shared(), kernel, options_, known).head), {});
    }

    ptx::FatBinary binary_;
    std::vector<analysis::KernelDescription> kernels_;
    std::unique_ptr<profiler::Backend> backend_;
    profiler::ProfileOptions options_;
    KernelHand hand_{1};
};

TEST_F(KernelTask, AnswersWhatTheWorkItselfComesTo) {
    for (const analysis::KernelDescription& kernel : kernels_) {
        const KernelResult here = profile_and_fit(kernel, *backend_, options_, {}, {});
        ASSERT_TRUE(here.profile && here.fits) << here.profile_failure << here.fit_failure;
        const auto answer = work(kernel);
        ASSERT_TRUE(answer) << answer.error().text();
        const auto there = read_kernel_result(sent(*answer), kernel, *backend_);
        ASSERT_TRUE(there) << there.error().text();
        EXPECT_EQ(*there->profile, *here.profile);
        EXPECT_EQ(*there->fits, *here.fits);
        // To the last bit, as the store has it.
        EXPECT_EQ(profiler::to_json(*there->profile).dump(), profiler::to_json(*here.profile).dump());

        const auto fits_alone = work(kernel, here.profile);
        ASSERT_TRUE(fits_alone);
        EXPECT_FALSE(fits_alone->contains("profile"));
        EXPECT_EQ(read_kernel_result(sent(*fits_alone), kernel, *backend_)->fits, here.fits);
    }
}

TEST_F(KernelTask, AFailureOfTheKernelIsSaidAsItsOwn) {
    analysis::KernelDescription fixed = kernels_[0];
    fixed.verdict = analysis::Verdict::fixed;
    const auto answer = work(fixed);
    ASSERT_TRUE(answer);
    const auto result = read_kernel_result(*answer, fixed, *backend_);
    ASSERT_TRUE(result);
    EXPECT_FALSE(result->profile || result->fits);
    EXPECT_THAT(result->profile_failure, HasSubstr("kernel_0 is left alone"));
}

TEST_F(KernelTask, AnswersOfOtherKernelsBackendsAndDataAreRefused) {
    const auto answer = work(kernels_[0]);
    ASSERT_TRUE(answer);
    ASSERT_TRUE(read_kernel_result(*answer, kernels_[0], *backend_));
    EXPECT_FALSE(read_kernel_result(*answer, kernels_[1], *backend_));
    json other = *answer;
    other["profile"]["backend"]["version"] = "0000000000000000";
    EXPECT_THAT(read_kernel_result(other, kernels_[0], *backend_).error().text(),
                HasSubstr("another backend"));
    other = *answer;
    other["profile"]["data"][0] = "m";
    EXPECT_THAT(read_kernel_result(other, kernels_[0], *backend_).error().text(), HasSubstr("kernel's data"));
    other = *answer;
    other["profile"]["points"][0]["values"] = "many";
    EXPECT_FALSE(read_kernel_result(other, kernels_[0], *backend_));
    other = *answer;
    other.erase("fits");
    EXPECT_FALSE(read_kernel_result(other, kernels_[0], *backend_));
    EXPECT_FALSE(read_kernel_result(json::object(), kernels_[0], *backend_));
}

TEST_F(KernelTask, TasksThatCannotBeReadAreErrors) {
    EXPECT_FALSE(hand_.work({{"do", "dance"}}, {}));
    EXPECT_FALSE(
        hand_.work({{"do", "kernel"}, {"description", json::object()}, {"options", json::object()}}, {}));
    KernelHand without(1);
    const Task task = kernel_task(shared(), kernels_[0], options_, {});
    EXPECT_FALSE(without.work(task.head, {}));
    without.take({{"shared", "x"}, {"origin", "x.ptx"}, {"architecture", "sm_75"}, {"texts", {9}}},
                 "garbage!!");
    const auto spoiled = without.work(task.head, {});
    ASSERT_FALSE(spoiled);
    EXPECT_THAT(spoiled.error().text(), HasSubstr("x.ptx"));
}

}  // namespace
}  // namespace trimtab::workers
