// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evidence on a module's way to driver programs: against a wrong verdict, kept, by workers, and not where it is off.
#include "profiler/evidence/evidence.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/analysis/describe.h"
#include "emulation/emulator/exec/launch.h"
#include "pipeline/profile_kernels.h"
#include "pipeline/workers/kernel_task.h"
#include "pipeline/workers/message.h"
#include "pipeline/workers/pool.h"
#include "profiler/emulator_backend.h"

namespace trimtab::pipeline {
namespace {

using profiler::Evidence;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string entry(const std::string& name, const std::string& value) {
    return ".visible .entry " + name + "(.param .u64 " + name + "_o, .param .u32 " + name + R"(_n) {
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [)" +
           name + R"(_o];
    ld.param.u32 %r1, [)" +
           name + R"(_n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra DONE;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], )" +
           value + R"(;
DONE:
    ret;
}
)";
}

// A backend that cannot gather evidence itself.
class WithoutProgram : public profiler::Backend {
  public:
    explicit WithoutProgram(profiler::Backend& backend) : backend_(backend) {}
    [[nodiscard]] std::string_view name() const override { return backend_.name(); }
    [[nodiscard]] std::string_view version() const override { return backend_.version(); }
    [[nodiscard]] std::expected<profiler::Measurement, profiler::MeasureError> measure(
        const profiler::MeasuredLaunch& launch) override {
        ++launches;
        return backend_.measure(launch);
    }
    int launches = 0;

  private:
    profiler::Backend& backend_;
};

class EvidenceOfModules : public testing::Test {
  protected:
    void SetUp() override {
        const std::string text = ".version 8.0\n.target sm_75\n.address_size 64\n" + entry("sound", "%r5") +
                                 entry("place_in_block", "%r4");
        const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
        binary_.hash = "00000000000000e1";
        binary_.images.push_back({.kind = ptx::FatBinaryImage::Kind::ptx,
                                  .architecture = 75,
                                  .architecture_name = "sm_75",
                                  .bytes = {bytes, bytes + text.size()},
                                  .compression = "none"});
        auto described = analysis::describe_fat_binary(binary_, {}, "kernels.ptx");
        ASSERT_TRUE(described) << described.error().text();
        kernels_ = std::move(described->kernels);
        ASSERT_EQ(kernels_.size(), 2U);
        ASSERT_EQ(kernels_[1].verdict, analysis::Verdict::fixed);
        // As a proof with a hole would have it.
        kernels_[1].verdict = analysis::Verdict::covering;
        kernels_[1].dimensions = kernels_[0].dimensions;
        kernels_[1].guards = kernels_[0].guards;
        kernels_[1].data = kernels_[0].data;
        kernels_[1].reasons.clear();
        auto program = emulator::load_program(std::move(described->modules.front()));
        ASSERT_TRUE(program);
        backend_ = profiler::make_emulator_backend(std::move(*program));
        options_.plan = {.least = 16, .most = 64};
    }

    ProfiledKernels profile(profiler::Backend& backend, bool wants_evidence = true) {
        bundle_ = {{.description = &kernels_[0], .profile = {}, .fits = {}},
                   {.description = &kernels_[1], .profile = {}, .fits = {}}};
        std::vector<driver_gen::BundleKernel*> kernels{&bundle_[0], &bundle_[1]};
        Progress progress("test", "kernels.ptx", kernels.size(), /*quiet=*/true);
        const std::function<void(const std::string&)> warn = [](const std::string& text) {
            ADD_FAILURE() << text;
        };
        notes_.clear();
        return profile_kernels(kernels,
                               {.backend = backend,
                                .options = options_,
                                .store = store_,
                                .progress = progress,
                                .warn = warn,
                                .wants_evidence = wants_evidence,
                                .note = [this](const std::string& text) { notes_.push_back(text); }});
    }

    ptx::FatBinary binary_;
    std::vector<analysis::KernelDescription> kernels_;
    std::unique_ptr<profiler::Backend> backend_;
    profiler::ProfileOptions options_;
    profiler::ProfileStore store_{"", [](const std::string&) {}};
    std::vector<driver_gen::BundleKernel> bundle_;
    std::vector<std::string> notes_;
};

TEST_F(EvidenceOfModules, AWrongVerdictGetsNoDriverProgram) {
    const ProfiledKernels profiled = profile(*backend_);
    EXPECT_FALSE(profiled.has_lost);
    ASSERT_EQ(profiled.refuted.size(), 1U);
    EXPECT_EQ(profiled.refuted[0].kernel, 1U);
    EXPECT_THAT(profiled.refuted[0].evidence.text, HasSubstr("as written: element "));
    EXPECT_TRUE(bundle_[0].fits);
    EXPECT_FALSE(bundle_[1].fits || bundle_[1].profile);
    EXPECT_THAT(notes_, ElementsAre(AllOf(HasSubstr("the same results as those as written"),
                                          HasSubstr("gathered in")),
                                    HasSubstr("other results than those as written")));
}

TEST_F(EvidenceOfModules, WhatIsKeptIsNotGatheredAgain) {
    ASSERT_EQ(profile(*backend_).refuted.size(), 1U);
    WithoutProgram other(*backend_);
    const ProfiledKernels again = profile(other);
    EXPECT_EQ(other.launches, 0);
    ASSERT_EQ(again.refuted.size(), 1U);
    EXPECT_TRUE(bundle_[0].fits);
    for (const std::string& note : notes_) EXPECT_THAT(note, testing::Not(HasSubstr("gathered")));
    // Under another verdict it says nothing.
    kernels_[1].verdict = analysis::Verdict::dividing;
    EXPECT_TRUE(profile(other).refuted.empty());
    EXPECT_EQ(profile(*backend_).refuted.size(), 1U);
}

TEST_F(EvidenceOfModules, NoneIsGatheredWhereItIsOff) {
    EXPECT_TRUE(profile(*backend_, /*wants_evidence=*/false).refuted.empty());
    EXPECT_TRUE(bundle_[1].fits);
    EXPECT_TRUE(notes_.empty());
    // The profiles are known then, and the evidence is not.
    EXPECT_EQ(profile(*backend_).refuted.size(), 1U);
}

TEST_F(EvidenceOfModules, WorkersAnswerTheSame) {
    workers::KernelHand hand(1);
    const auto shared = workers::shared_program(binary_, "kernels.ptx");
    nlohmann::json head = shared->head;
    head["shared"] = binary_.hash;
    hand.take(head, shared->body);
    for (const analysis::KernelDescription& kernel : kernels_) {
        workers::KernelResult here = workers::profile_and_fit(kernel, *backend_, options_, {}, {});
        EXPECT_FALSE(here.evidence);
        workers::add_evidence(here, kernel, *backend_);
        ASSERT_TRUE(here.evidence);
        const auto answer = hand.work(workers::kernel_task(shared, kernel, options_, {}, true).head, {});
        ASSERT_TRUE(answer) << answer.error().text();
        const auto there = workers::read_kernel_result(*answer, kernel, *backend_);
        ASSERT_TRUE(there) << there.error().text();
        EXPECT_EQ(there->evidence, here.evidence);

        const auto unasked = hand.work(workers::kernel_task(shared, kernel, options_, {}).head, {});
        ASSERT_TRUE(unasked);
        EXPECT_FALSE(unasked->contains("evidence"));
        nlohmann::json damaged = *answer;
        damaged["evidence"]["outcome"] = 3;
        EXPECT_FALSE(workers::read_kernel_result(damaged, kernel, *backend_));
    }
}

}  // namespace
}  // namespace trimtab::pipeline
