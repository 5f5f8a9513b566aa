// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Profiles of a program's own launches: which points there are, and what they may speak for.
#include "profiler/observed_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "core/analysis/describe.h"
#include "core/analysis/launches/operation.h"
#include "driver_gen/fit_kernel.h"

namespace trimtab::profiler {
namespace {

using model::Metric;
using testing::ElementsAre;
using testing::HasSubstr;

// void rows(const int* begin, float scale, int n) { i = ...; if (i >= n) return; ... }
analysis::KernelDescription described() {
    analysis::KernelDescription out;
    out.id = "0123456789abcdef";
    out.name = out.demangled = "rows";
    out.images = {{.architecture = "sm_75", .registers = 32, .registers_from = "ptxas sm_75"}};
    const auto parameter = [](std::uint32_t index, std::string name, std::uint32_t offset, std::uint32_t size,
                              std::string type, bool is_pointer) {
        analysis::KernelParameter one;
        one.index = index;
        one.name = std::move(name);
        one.offset = offset;
        one.size = size;
        one.type = std::move(type);
        one.ptx_type = is_pointer ? "u64" : "u32";
        one.is_pointer = is_pointer;
        one.pointee = is_pointer ? "int" : "";
        return one;
    };
    out.parameters = {parameter(0, "begin", 0, 8, "const int *", true),
                      parameter(1, "scale", 8, 4, "float", false), parameter(2, "n", 12, 4, "int", false)};
    out.dimensions[0].index = analysis::Index::global;
    analysis::DataParameter scale, n, extent;
    scale.name = "scale";
    scale.parameter = 1;
    scale.type = "f32";
    n.name = "n";
    n.parameter = 2;
    n.type = "s32";
    n.bounds = analysis::Dimension::x;
    extent.name = "extent.x";
    extent.is_extent = true;
    extent.type = "u32";
    out.data = {scale, n, extent};
    analysis::Expression index, bound;
    index.kind = analysis::Expression::Kind::global_index;
    index.type = ptx::Type::s32;
    index.dimension = analysis::Dimension::x;
    bound.kind = analysis::Expression::Kind::parameter;
    bound.type = ptx::Type::s32;
    bound.parameter = 2;
    out.guards = {
        {.dimension = analysis::Dimension::x,
         .exits = analysis::applied(analysis::decode_operation("setp.ge.s32").value(), {index, bound}),
         .source = {}}};
    out.verdict = analysis::Verdict::covering;
    return out;
}

ObservedLaunch launched(int n, std::uint32_t threads, float scale = 1.5f) {
    ObservedLaunch out;
    out.parameters.resize(16);
    std::memcpy(out.parameters.data() + 8, &scale, 4);
    std::memcpy(out.parameters.data() + 12, &n, 4);
    out.block = {threads, 1, 1};
    out.grid = {(static_cast<std::uint32_t>(n) + threads - 1) / threads, 1, 1};
    const auto set = [&](Metric metric, double value) {
        out.values[static_cast<std::size_t>(metric)] = value;
    };
    set(Metric::warp_instructions, 100 + 24 * 7);
    set(Metric::load_requests, 50);
    set(Metric::active_warps, threads / 32.0);
    set(Metric::active_blocks, out.grid.x);
    set(Metric::active_lanes, 32);
    set(Metric::instruction_parallelism, 1.5);
    set(Metric::dependent_rounds, 24);
    set(Metric::footprint_sectors, threads * 3.0);
    out.boxes = {{.threads = {threads * 2.0, 1, 1}, .footprint_sectors = threads * 6.0}};
    return out;
}

std::vector<ObservedLaunch> at(int n) {
    std::vector<ObservedLaunch> out;
    for (std::uint32_t threads = 32; threads <= 1024; threads += 32) out.push_back(launched(n, threads));
    return out;
}

TEST(ObservedProfile, HasAPointForEveryBlockAndSpeaksForTheDataThatWereSeen) {
    const auto profile = observed_profile(described(), at(3000), "v1", std::nullopt, std::nullopt);
    ASSERT_TRUE(profile) << profile.error().text();
    EXPECT_EQ(profile->backend_name, observed_backend);
    EXPECT_EQ(profile->kernel_id, "0123456789abcdef");
    EXPECT_EQ(profile->points.size(), 64u);  // blocks, and boxes of two
    EXPECT_EQ(std::ranges::count(profile->points, true, &ProfilePoint::held_out), 12);
    EXPECT_THAT(profile->data_dependent, testing::IsEmpty());
    // scale and n had one value; the extent follows n.
    EXPECT_THAT(profile->varied, ElementsAre(false, false, true));
    EXPECT_EQ(profile->ranges.evaluate(profile->points[0].data)[1], 3000);
    EXPECT_TRUE(driver_gen::fit_kernel(*profile));
}

TEST(ObservedProfile, GrowsByLaterRuns) {
    const auto first = observed_profile(described(), at(3000), "v1", std::nullopt, std::nullopt);
    ASSERT_TRUE(first);
    const auto both = observed_profile(described(), at(9000), "v1", std::nullopt, *first);
    ASSERT_TRUE(both);
    EXPECT_EQ(both->points.size(), 128u);
    EXPECT_THAT(both->varied, ElementsAre(false, true, true));
    EXPECT_EQ(both->ranges.evaluate(both->points[0].data)[1], 9000);
    EXPECT_EQ(both->ranges.evaluate(both->points[127].data)[1], 3000);
    // The same launches again take their places.
    EXPECT_EQ(observed_profile(described(), at(3000), "v1", std::nullopt, *both)->points.size(), 128u);
    // What another version counted is not mixed with it.
    EXPECT_EQ(observed_profile(described(), at(3000), "v2", std::nullopt, *both)->points.size(), 64u);
}

TEST(ObservedProfile, KnowsFromThePlannedOneWhatDoesNotMatter) {
    auto planned = observed_profile(described(), at(100), "v1", std::nullopt, std::nullopt);
    ASSERT_TRUE(planned);
    planned->backend_name = "emulator";
    planned->varied = {true, true, true};  // any scale is as good; sizes were varied
    for (std::size_t i = 0; i < planned->points.size(); ++i) planned->points[i].data[1] = 100.0 + double(i);
    const auto profile = observed_profile(described(), at(3000), "v1", *planned, std::nullopt);
    ASSERT_TRUE(profile);
    EXPECT_THAT(profile->varied, ElementsAre(true, false, true));
    EXPECT_EQ(profile->points.size(), 64u);  // none of the planned one's
}

TEST(ObservedProfile, LaunchesThatDidNothingOrAreNotOfTheKernelGiveNone) {
    ObservedLaunch idle = launched(3000, 64);
    idle.values[static_cast<std::size_t>(Metric::active_blocks)] = 0;
    EXPECT_THAT(observed_profile(described(), {idle}, "v1", std::nullopt, std::nullopt).error().text(),
                HasSubstr("did anything"));
    ObservedLaunch short_one = launched(3000, 64);
    short_one.parameters.resize(8);
    EXPECT_THAT(observed_profile(described(), {short_one}, "v1", std::nullopt, std::nullopt).error().text(),
                HasSubstr("8 bytes of arguments"));
}

}  // namespace
}  // namespace trimtab::profiler
