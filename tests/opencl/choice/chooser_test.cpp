// What becomes of a launch of OpenCL's: the same vetoes as of CUDA's.
#include "opencl/choice/chooser.h"

#include <gmock/gmock.h>

#include <optional>

#include "choosing/modules/module_image.h"
#include "model/device.h"
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
        script.uncertain = false;
        script.select_result = 1;
        script.best = {128, 1, 1};
    }

    // A launch of 32 work-groups of 32 work-items.
    Decision decide(const char* keep = nullptr) {
        if (!chooser_) {
            chooser_.emplace(choosing::ReadSettings{.settings = settings_, .warnings = {}});
            bundle_.emplace(description_, choosing::recognise_module(static_cast<const void*>(ptx)).hash);
            chooser_->bundles().add(&bundle_->bundle());
            device_ = {
                .values = model::find_device("rtx2070super")->values, .name = "rtx2070super", .ordinal = 0};
        }
        ChosenKernel& kernel = chooser_->kernel_of(chooser_->module_of(ptx), description_.name);
        return chooser_->decide(kernel, shape_, device_, keep, false);
    }

    choosing::Settings settings_;
    analysis::KernelDescription description_ = fake::guarded_kernel();
    std::optional<fake::FakeBundle> bundle_;
    std::optional<Chooser> chooser_;
    ChoiceDevice device_;
    int n_ = 1000, step_ = 1, bound_ = 10;
    float* out_ = nullptr;
    void* arguments_[4] = {&n_, static_cast<void*>(&out_), &step_, &bound_};
    choosing::LaunchShape shape_{.grid = {32, 1, 1}, .block = {32, 1, 1}, .arguments = arguments_};
};

TEST_F(ChooserTest, TakesTheWorkGroupThatIsPredictedFaster) {
    const Decision decision = decide();
    EXPECT_EQ(decision.block.x, 128u);
    EXPECT_EQ(decision.grid.x, 8u);
}

TEST_F(ChooserTest, SumsThatWouldBeGroupedOtherwiseKeepTheirWorkGroupUnderReassociate0) {
    description_.may_reassociate = true;
    settings_.reassociate = false;
    const Decision decision = decide();
    EXPECT_EQ(decision.block.x, 32u);
    EXPECT_EQ(decision.grid.x, 32u);
    EXPECT_THAT(decision.reason, ::testing::HasSubstr("TRIMTAB_REASSOCIATE=0"));
}

TEST_F(ChooserTest, SumsMayBeGroupedOtherwiseWhereTheBuildAllowedItAndNobodyTakesThatBack) {
    description_.may_reassociate = true;
    EXPECT_EQ(decide().block.x, 128u);
}

}  // namespace
}  // namespace trimtab::opencl
