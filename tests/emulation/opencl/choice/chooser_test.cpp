// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What becomes of a launch of OpenCL's: the same vetoes as of CUDA's.
#include "emulation/opencl/choice/chooser.h"

#include <gmock/gmock.h>

#include <future>
#include <optional>
#include <string>

#include "choosing/modules/module_image.h"
#include "core/model/device.h"
#include "tests/choosing/fake_driver.h"

namespace trimtab::opencl {
namespace {

namespace fake = choosing::testing;
using choosing::Decision;

constexpr char ptx[] = "\n.version 7.8\n.target sm_75\n";

class ChooserTest : public ::testing::Test {
  protected:
    ChooserTest() {
        fake::DriverScript& script = fake::driver_script();
        script.predict = [](const double*, trimtab_dim3 block) { return block.x == 128 ? 100.0 : 1000.0; };
        script.doubt = 0;
        script.select_result = 1;
        script.best = {128, 1, 1};
    }

    // A launch of 32 work-groups of 32 work-items.
    Decision decide(const char* keep = nullptr) {
        if (!chooser_) {
            pending_ = {};  // it names what another chooser knew
            chooser_.emplace(choosing::ReadSettings{.settings = settings_, .warnings = {}}, load_emulation_);
            bundle_.emplace(description_, choosing::recognise_module(static_cast<const void*>(ptx)).hash);
            chooser_->bundles().add(&bundle_->bundle());
            device_ = {
                .values = model::find_device("rtx2070super")->values, .name = "rtx2070super", .ordinal = 0};
        }
        choosing::Kernel& kernel = chooser_->kernel_of(chooser_->module_of(ptx), description_.name);
        return chooser_->decide(kernel, shape_, device_, keep, false, pending_);
    }

    choosing::Settings settings_;
    choosing::CrossCheck::Load load_emulation_;
    analysis::KernelDescription description_ = fake::guarded_kernel();
    std::optional<fake::FakeBundle> bundle_;
    std::optional<Chooser> chooser_;
    ChoiceDevice device_;
    Chooser::Pending pending_;
    int n_ = 1000, step_ = 1, bound_ = 10;
    float* out_ = nullptr;
    void* arguments_[4] = {&n_, static_cast<void*>(&out_), &step_, &bound_};
    choosing::LaunchShape shape_{.written = {.grid = {32, 1, 1}, .block = {32, 1, 1}},
                                 .arguments = arguments_};
};

TEST_F(ChooserTest, TakesTheWorkGroupThatIsPredictedFaster) {
    const Decision decision = decide();
    EXPECT_EQ(decision.launch.block.x, 128u);
    EXPECT_EQ(decision.launch.grid.x, 8u);
}

TEST_F(ChooserTest, SumsThatWouldBeGroupedOtherwiseKeepTheirWorkGroupUnderReassociate0) {
    description_.may_reassociate = true;
    settings_.reassociate = false;
    const Decision decision = decide();
    EXPECT_EQ(decision.launch.block.x, 32u);
    EXPECT_EQ(decision.launch.grid.x, 32u);
    EXPECT_THAT(decision.reason, ::testing::HasSubstr("TRIMTAB_REASSOCIATE=0"));
}

TEST_F(ChooserTest, SumsMayBeGroupedOtherwiseWhereTheBuildAllowedItAndNobodyTakesThatBack) {
    description_.may_reassociate = true;
    EXPECT_EQ(decide().launch.block.x, 128u);
}

TEST_F(ChooserTest, ObserveAndOffAnswerTheLaunchAsWritten) {
    for (const choosing::Mode mode : {choosing::Mode::observe, choosing::Mode::off}) {
        settings_.mode = mode;
        chooser_.reset();
        const Decision decision = decide();
        EXPECT_EQ(decision.launch.block.x, 32u);
        EXPECT_EQ(decision.launch.grid.x, 32u);
        EXPECT_EQ(decision.by, choosing::By::unchanged);
    }
}

TEST_F(ChooserTest, AWorkGroupThatFailedToLaunchIsNotTakenAgain) {
    EXPECT_EQ(decide().launch.block.x, 128u);
    choosing::Kernel& kernel = chooser_->kernel_of(chooser_->module_of(ptx), description_.name);
    chooser_->give_up(kernel, shape_, pending_, "error -54");
    choosing::RememberedChoice choice;
    bool is_changed = true;
    ASSERT_TRUE(chooser_->recall(kernel, shape_, device_.ordinal, pending_, choice, is_changed));
    EXPECT_FALSE(is_changed);
    EXPECT_THAT(decide().reason, ::testing::HasSubstr("the chosen work-group failed to launch: error -54"));
}

TEST_F(ChooserTest, ChoicesAreCrossCheckedByTheProgramsPtx) {
    settings_.crosscheck = {.leaders = 2, .seconds = 5, .launch = 2};
    fake::driver_script().others = {{256, 1, 1}};
    std::promise<std::string> asked;
    load_emulation_ = [&asked](std::string&) -> choosing::CrossCheck::Emulate {
        return [&asked](const choosing::EmulationQuestion& question, char*, std::size_t) {
            asked.set_value({reinterpret_cast<const char*>(question.code), question.code_bytes});
            return choosing::emulation_done;
        };
    };
    EXPECT_TRUE(decide().awaits_check);
    EXPECT_EQ(asked.get_future().get(), ptx);
    chooser_->finish();
}

TEST_F(ChooserTest, ThatLaunchesCannotBeTimedIsSaid) {
    settings_.learn.is_on = true;
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(decide().launch.block.x, 128u);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(),
                ::testing::HasSubstr("TRIMTAB_LEARN: launches cannot be timed"));
}

}  // namespace
}  // namespace trimtab::opencl
