// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TRIMTAB_TUNE: what its text means, what it changes in the verdict, and which launches follow from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/analysis/annotations/annotated_launch.h"
#include "core/analysis/annotations/annotation_file.h"
#include "core/analysis/describe.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/analysis/launches/variants.h"
#include "tests/core/analysis/cuda_compiler.h"
#include "tests/core/analysis/judged_launch.h"
#include "tests/core/analysis/schema.h"

namespace trimtab::analysis::test {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr std::string_view source = R"(
    extern __shared__ float tile[];
    __global__ void block_sum(const float* in, float* out, int n) {
        int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
        float s = i < n ? in[i] : 0;
        if (i + blockDim.x < n) s += in[i + blockDim.x];
        tile[threadIdx.x] = s;
        __syncthreads();
        for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
    }
    __global__ void row_sum(const float* in, float* out, int n) {
        __shared__ float s[256];
        float sum = 0;
        for (int k = threadIdx.x; k < n; k += blockDim.x) sum += in[blockIdx.x * n + k];
        s[threadIdx.x] = sum;
        __syncthreads();
        for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) out[blockIdx.x] = s[0];
    }
    struct Sizes { float scale; int width; long height; };
    __global__ void plane(float* out, Sizes sizes, unsigned short step, float factor) {
        out[blockIdx.y * sizes.width + threadIdx.x] = blockDim.y + step + factor;
    }
    __global__ void guarded(float* out, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) out[i] = 1;
    }
    __global__ void by_rows(float* out, int d) {
        for (int k = threadIdx.x; k < d; k += blockDim.x) out[blockIdx.x * d + k] = k;
    })";

class Annotations : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        module = new ptx::Module(*ptx::parse(compile_cuda(source, "-O2"), "test.ptx"));
    }
    static void TearDownTestSuite() { delete module; }

    static std::string mangled(const std::string& name) {
        for (const ptx::Function* kernel : module->kernels())
            if (kernel->name.contains(name)) return kernel->name;
        return {};
    }
    static std::expected<KernelDescription, Error> describe(const std::string& name,
                                                            const std::string& text) {
        KernelSources sources;
        sources[mangled("block_sum")].parameters = {{"in", ""}, {"out", ""}, {"n", ""}};
        sources[mangled("plane")].parameters = {{"out", ""}, {"sizes", ""}, {"step", ""}, {"factor", ""}};
        sources[mangled("guarded")].parameters = {{"out", ""}, {"n", ""}};
        sources[mangled("by_rows")].parameters = {{"out", ""}, {"d", ""}};
        sources[mangled("row_sum")].parameters = {{"in", ""}, {"out", ""}, {"n", ""}};
        sources[mangled(name)].annotations = {{text, "app.cu", 12}};
        Image image;
        image.module = module;
        image.architecture = "sm_75";
        auto kernels = analysis::describe({&image, 1}, sources);
        if (!kernels) return std::unexpected(kernels.error());
        return kernel_named(*kernels, name);
    }
    static KernelDescription described(const std::string& name, const std::string& text) {
        auto kernel = describe(name, text);
        EXPECT_TRUE(kernel.has_value()) << kernel.error().text();
        return kernel.value_or(KernelDescription{});
    }
    static std::string complaint(const std::string& name, const std::string& text) {
        const auto kernel = describe(name, text);
        return kernel ? "" : kernel.error().text();
    }

    static ptx::Module* module;
};
ptx::Module* Annotations::module = nullptr;

// Of little shared memory.
trimtab_device small_device() {
    trimtab_device small = device();
    small.shared_bytes_per_block = 4096;
    return small;
}

std::string text(const std::optional<LaunchConfiguration>& launch) {
    if (!launch) return "none";
    return std::to_string(launch->grid.x) + "x" + std::to_string(launch->grid.y) + " of " +
           std::to_string(launch->block.x) + "x" + std::to_string(launch->block.y) + " with " +
           std::to_string(launch->dynamic_shared_bytes);
}

const void* const pointer = nullptr;

// What the annotation calls variant is the number of the body that it stands at.
TEST_F(Annotations, KnowTheirVariant) {
    constexpr const char* stated = "block(bx == variant), grid(ceil(n / bx)), dynamic_shared(4 * variant)";
    const auto body = [](std::int32_t value) {
        KernelSources sources;
        KernelSource& source_of_it = sources[mangled("block_sum")];
        source_of_it.demangled = "block_sum(" + std::to_string(value) + ")";
        source_of_it.parameters = {{"in", ""}, {"out", ""}, {"n", ""}};
        source_of_it.annotations = {{stated, "app.cu", 12}};
        source_of_it.variant = Variant{.of = "sum", .value = value};
        Image image;
        image.module = module;
        image.architecture = "sm_75";
        return kernel_named(*analysis::describe({&image, 1}, sources), "block_sum");
    };
    const KernelDescription narrow = body(64), wide = body(256);
    const auto given = arguments(wide, pointer, pointer, 1000);
    const LaunchConfiguration written{{4, 1, 1}, {256, 1, 1}, 1024};
    EXPECT_EQ(annotation_mismatch(wide, given, written), "");
    EXPECT_EQ(text(stated_launch(narrow, given, written, {64, 1, 1})), "16x1 of 64x1 with 256");
    EXPECT_EQ(text(stated_launch(narrow, given, written, {256, 1, 1})), "none");
    EXPECT_EQ(variant_mismatch(wide, narrow), "");
    const auto again = description_from_json(to_json(narrow), "test");
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(again->variant, narrow.variant);

    // A body with launch bounds of its own, below the block as written.
    trimtab_image image = to_driver_image(image_for(narrow, 75));
    image.max_threads_per_block = 64;
    EXPECT_FALSE(legal_blocks(narrow, given, written.grid, written.block, device(), image));
    const auto limits = legal_blocks_of_body(narrow, given, written.grid, written.block, device(), image);
    ASSERT_TRUE(limits) << limits.error();
    EXPECT_EQ(limits->max_threads, 64u);

    KernelDescription other = narrow;
    other.parameters[2].size = 8;
    EXPECT_EQ(variant_mismatch(wide, other), "it takes other parameters");
    other = narrow;
    other.verdict = Verdict::fixed;
    EXPECT_EQ(variant_mismatch(wide, other),
              "no annotation states the grid that goes with a block of block_sum(64)");
    other.variant->of = "another";
    EXPECT_THAT(variant_faults(std::vector{wide, other}), testing::SizeIs(2)) << "each is alone";
    EXPECT_THAT(complaint("block_sum", "block(bx == variant)"), HasSubstr("TRIMTAB_VARIANTS names them"));
}

TEST_F(Annotations, KeepTheGridAsWritten) {
    const auto kernel = described("block_sum", "block(ispow2(bx)), grid(as_written), dynamic_shared(4 * bx)");
    EXPECT_EQ(kernel.verdict, Verdict::annotated);
    EXPECT_TRUE(kernel.grid_stays(0));
    const auto given = arguments(kernel, pointer, pointer, 1000);
    const LaunchConfiguration written{{7, 1, 1}, {256, 1, 1}, 1024};
    EXPECT_EQ(annotation_mismatch(kernel, given, written), "");
    EXPECT_EQ(text(stated_launch(kernel, given, written, {64, 1, 1})), "7x1 of 64x1 with 256");
    // The description, which has no loops of the proof's, is read back.
    const auto again = description_from_json(to_json(kernel), "test");
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_TRUE(again->grid_stays(0));
    EXPECT_EQ(annotation_mismatch(*again, given, written), "");
    EXPECT_THAT(complaint("block_sum", "grid(as_written), dynamic_shared(4 * ex)"),
                HasSubstr("ex is not known where the grid is as_written in x"));
}

TEST_F(Annotations, AllowSumsInAnotherOrder) {
    const std::string shape = "block(ispow2(bx)), grid(ceil(n / (2 * bx))), dynamic_shared(4 * bx)";
    EXPECT_FALSE(described("block_sum", shape).may_reassociate);
    const auto kernel = described("block_sum", shape + ", reassociate");
    EXPECT_TRUE(kernel.may_reassociate);
    EXPECT_TRUE(description_from_json(to_json(kernel), "test")->may_reassociate);
    EXPECT_THAT(complaint("block_sum", shape + ", reassociated"), HasSubstr("no such clause"));
}

TEST_F(Annotations, LetTheProofTakeSumsForEqual) {
    EXPECT_EQ(described("row_sum", "sizes(n)").verdict, Verdict::fixed);
    const auto kernel = described("row_sum", "sizes(n), reassociate");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    EXPECT_TRUE(kernel.may_reassociate && kernel.grid_stays(0));
    EXPECT_EQ(kernel.images.front().max_threads, 256u);
    // What needs no leave has none.
    EXPECT_FALSE(described("guarded", "reassociate").may_reassociate);
}

TEST_F(Annotations, ComeFromAFileToo) {
    const auto file = parse_annotation_file(
        R"json({"trimtab_annotations": 1, "made_by": "hand", "kernels": [
            {"kernel": "with", "annotation": "grid(ceil(n / bx))", "parameters": ["in", "n"]},
            {"kernel": "body", "annotation": "block(bx == variant)", "variant": {"of": "all", "value": 64}},
            {"kernel": "known", "annotation": "leave_alone", "variant": {"of": "others", "value": 2}}]})json",
        "side.json");
    ASSERT_TRUE(file) << file.error().text();
    KernelSources sources;
    sources["known"].annotations = {{"block(bx < 64)", "app.cu", 3}};
    sources["known"].variant = Variant{.of = "the source's", .value = 1};
    add_annotations(sources, *file, "side.json");
    ASSERT_EQ(sources["with"].annotations.size(), 1u);
    EXPECT_EQ(sources["with"].annotations[0].text, "grid(ceil(n / bx))");
    EXPECT_EQ(sources["with"].annotations[0].file, "side.json");
    EXPECT_EQ(sources["with"].parameters[1].name, "n");
    EXPECT_FALSE(sources["with"].variant);
    EXPECT_EQ(sources["body"].variant, (Variant{.of = "all", .value = 64}));
    EXPECT_EQ(sources["known"].variant, (Variant{.of = "the source's", .value = 1}));
    ASSERT_EQ(sources["known"].annotations.size(), 1u);  // the source's own
    EXPECT_EQ(sources["known"].annotations[0].text, "block(bx < 64)");
}

TEST_F(Annotations, OfAFileThatIsNoneAreOneLine) {
    const auto fault = [](std::string_view text) {
        const auto file = parse_annotation_file(text, "side.json");
        return file ? std::string() : file.error().text();
    };
    EXPECT_THAT(fault("{"), HasSubstr("side.json"));
    EXPECT_THAT(fault(R"({"kernels": []})"), HasSubstr("trimtab_annotations"));
    EXPECT_THAT(fault(R"({"trimtab_annotations": 2, "kernels": []})"), HasSubstr("another version"));
    EXPECT_THAT(fault(R"({"trimtab_annotations": 1, "kernels": [{"kernel": "k"}]})"),
                HasSubstr("kernels[0] has no member \"annotation\""));
    EXPECT_THAT(fault(R"({"trimtab_annotations": 1, "kernels": [{"kernel": "k", "annotation": "leave_alone"},
                          {"kernel": "k", "annotation": "leave_alone"}]})"),
                HasSubstr("there already"));
    EXPECT_THAT(fault(R"({"trimtab_annotations": 1, "kernels": [{"kernel": "k", "annotation": "leave_alone",
                          "variant": {"of": "k"}}]})"),
                HasSubstr("kernels[0].variant has no member \"value\""));
}

TEST_F(Annotations, MakeABlockReductionTunable) {
    EXPECT_EQ(described("block_sum", "sizes(n)").verdict, Verdict::fixed);
    const auto kernel =
        described("block_sum",
                  "block(ispow2(bx), bx >= 64), grid(ceil(n / (2 * bx))), dynamic_shared(4 * bx), sizes(n)");
    EXPECT_EQ(kernel.verdict, Verdict::annotated);
    EXPECT_TRUE(kernel.data_index("n").has_value());
    EXPECT_FALSE(kernel.reasons.empty());  // what the promise stands against

    const auto bytes = arguments(kernel, pointer, pointer, 10000);
    const LaunchConfiguration written{{20, 1, 1}, {256, 1, 1}, 1024};
    EXPECT_EQ(annotation_mismatch(kernel, bytes, written), "");
    const auto limits =
        legal_blocks(kernel, bytes, written.grid, written.block, small_device(), trimtab_image{});
    ASSERT_TRUE(limits.has_value()) << limits.error();
    EXPECT_EQ(limits->dividing, 0u);
    const auto with = [&](trimtab_dim3 block) {
        return text(launch_with_block(kernel, bytes, *limits, written, block));
    };
    EXPECT_EQ(with({64, 1, 1}), "79x1 of 64x1 with 256");
    EXPECT_EQ(with({512, 1, 1}), "10x1 of 512x1 with 2048");
    EXPECT_EQ(with({32, 1, 1}), "none");
    EXPECT_EQ(with({96, 1, 1}), "none");
    EXPECT_EQ(with({64, 2, 1}), "none");
    EXPECT_EQ(with({2048, 1, 1}), "none");
    // 8 bytes a thread: 1024 threads would need more than a block of this device gets.
    const auto wide = described("block_sum", "dynamic_shared(8 * bx), grid(ceil(n / (2 * bx)))");
    EXPECT_EQ(text(launch_with_block(wide, bytes, *limits, written, {512, 1, 1})), "10x1 of 512x1 with 4096");
    EXPECT_EQ(text(launch_with_block(wide, bytes, *limits, written, {1024, 1, 1})), "none");
    // The threads of a launch whose grid is stated go with its block.
    const auto extent = kernel.data_index("extent.x");
    ASSERT_TRUE(extent.has_value());
    const auto data = data_values(kernel, bytes, {5120, 1, 1});
    EXPECT_EQ(data_of_launch(kernel, data, {{79, 1, 1}, {64, 1, 1}, 256})[*extent], 79 * 64);
    const auto proved = described("guarded", "block(bx >= 64)");
    EXPECT_EQ(data_of_launch(proved, {1000, 1024}, {{16, 1, 1}, {64, 1, 1}, 0})[1], 1024);
}

TEST_F(Annotations, PutWhatTheyReadIntoTheDataParameters) {
    // A member of a struct that the kernel never reads, and one as wide as it is read.
    const auto kernel = described("plane", "grid(s64(sizes, 8) + s32(sizes, 8)), block(step > 1)");
    const auto type = [&](const std::string& name) {
        const auto index = kernel.data_index(name);
        return index ? kernel.data[*index].type : "none";
    };
    EXPECT_EQ(type("sizes+8"), "s64");
    EXPECT_EQ(type("sizes+8:s32"), "s32");
    EXPECT_EQ(type("step"), "u16");
    EXPECT_TRUE(kernel.data.back().is_extent);
}

TEST_F(Annotations, ThatDoNotDescribeTheLaunchAreNotBelieved) {
    const auto kernel =
        described("block_sum", "block(bx <= 256), grid(ceil(n / (2 * bx))), dynamic_shared(4 * bx)");
    const auto bytes = arguments(kernel, pointer, pointer, 10000);
    EXPECT_THAT(annotation_mismatch(kernel, bytes, {{21, 1, 1}, {256, 1, 1}, 1024}),
                HasSubstr("a grid of 20"));
    EXPECT_THAT(annotation_mismatch(kernel, bytes, {{20, 1, 1}, {256, 1, 1}, 0}), HasSubstr("1024 bytes"));
    EXPECT_THAT(annotation_mismatch(kernel, bytes, {{10, 1, 1}, {512, 1, 1}, 2048}), HasSubstr("rules out"));
    // No blocks at all, and a division by zero.
    const auto empty = arguments(kernel, pointer, pointer, 0);
    EXPECT_THAT(annotation_mismatch(kernel, empty, {{1, 1, 1}, {256, 1, 1}, 1024}), HasSubstr("rules out"));
    const auto divided = described("block_sum", "grid(ceil(n / (n - 5)))");
    EXPECT_NE(
        annotation_mismatch(divided, arguments(divided, pointer, pointer, 5), {{1, 1, 1}, {64, 1, 1}, 0}),
        "");
}

TEST_F(Annotations, OfThePapersCase) {
    // KLARAPTOR, V-A: bx < by^2, bx < N, by < N; gx = ceil(N / bx), gy = ceil(N / by).
    const auto kernel = described("plane",
                                  "\"block(bx < by * by, bx < s32(sizes, 4), by < s64(sizes, 8))\", "
                                  "\"grid(ceil(s32(sizes, 4) / bx), ceil_div(s64(sizes, 8), by))\"");
    EXPECT_EQ(kernel.verdict, Verdict::annotated);
    struct Sizes {
        float scale = 1;
        int width = 100;
        long height = 60;
    };
    const auto bytes = arguments(kernel, pointer, Sizes{}, static_cast<unsigned short>(3), 1.0f);
    const LaunchConfiguration written{{7, 8, 1}, {16, 8, 1}, 0};
    EXPECT_EQ(annotation_mismatch(kernel, bytes, written), "");
    trimtab_limits limits{};
    limits.extent = {112, 64, 1};
    limits.max_block = {1024, 1024, 64};
    limits.max_grid = {1000, 1000, 1000};
    limits.max_threads = 1024;
    const auto with = [&](trimtab_dim3 block) {
        return text(launch_with_block(kernel, bytes, limits, written, block));
    };
    EXPECT_EQ(with({32, 8, 1}), "4x8 of 32x8 with 0");
    EXPECT_EQ(with({64, 8, 1}), "none");
    EXPECT_EQ(with({8, 64, 1}), "none");
}

// KLARAPTOR, V-A: a pragma names the arguments that are data sizes (size_param_idx), another the kernel's
// dimension; files constrain the block and state the grid.
TEST_F(Annotations, SayWhatThePapersPragmasSay) {
    const auto sized = described("block_sum", "sizes(n)");
    const auto n = sized.data_index("n");
    ASSERT_TRUE(n.has_value());
    EXPECT_TRUE(sized.data[*n].in_memo);
    EXPECT_FALSE(sized.data[*n].coarse_in_memo);
    EXPECT_EQ(sized.verdict, Verdict::fixed);
    // Dimension 1, 2 and 3 of a kernel that reads but x and y: blocks that stay 1 in the others.
    const trimtab_limits limits{.extent = {4096, 64, 1},
                                .max_block = {1024, 1024, 64},
                                .max_grid = {100000, 100000, 1000},
                                .max_threads = 1024,
                                .thread_multiple = 1,
                                .dividing = 0,
                                .max_dynamic_shared_bytes = 0};
    struct Sizes {
        float scale = 1;
        int width = 100;
        long height = 60;
    };
    const auto in_dimensions = [&](const std::string& text, trimtab_dim3 block) {
        const auto kernel = described("plane", text);
        const auto bytes = arguments(kernel, pointer, Sizes{}, static_cast<unsigned short>(3), 1.0f);
        const auto launch = launch_with_block(kernel, bytes, limits, {{16, 8, 1}, {16, 8, 1}, 0}, block);
        return launch ? std::to_string(launch->grid.x) + "," + std::to_string(launch->grid.y) + "," +
                            std::to_string(launch->grid.z)
                      : "none";
    };
    const std::string one = "block(by == 1, bz == 1), grid(ceil(s32(sizes, 4) / bx))";
    EXPECT_EQ(in_dimensions(one, {32, 1, 1}), "4,1,1");
    EXPECT_EQ(in_dimensions(one, {32, 2, 1}), "none");
    const std::string two = "block(bz == 1), grid(ceil(s32(sizes, 4) / bx), ceil(s64(sizes, 8) / by))";
    EXPECT_EQ(in_dimensions(two, {32, 8, 1}), "4,8,1");
    EXPECT_EQ(in_dimensions(two, {32, 4, 2}), "none");
    const std::string three =
        "grid(ceil(s32(sizes, 4) / bx), ceil(s64(sizes, 8) / by), ceil(step / bz)), block(bx * by * bz <= "
        "512)";
    EXPECT_EQ(in_dimensions(three, {8, 8, 2}), "13,8,2");
    EXPECT_EQ(in_dimensions(three, {32, 8, 4}), "none");
}

TEST_F(Annotations, OnlyNarrowWhatIsProved) {
    const auto kernel = described("guarded", "block(bx % 64 == 0 && !(bx > 512))");
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    const auto bytes = arguments(kernel, pointer, 1000);
    const LaunchConfiguration written{{4, 1, 1}, {256, 1, 1}, 0};
    const auto limits =
        legal_blocks(kernel, bytes, written.grid, written.block, small_device(), trimtab_image{});
    ASSERT_TRUE(limits.has_value());
    EXPECT_EQ(text(launch_with_block(kernel, bytes, *limits, written, {128, 1, 1})), "8x1 of 128x1 with 0");
    EXPECT_EQ(text(launch_with_block(kernel, bytes, *limits, written, {96, 1, 1})), "none");
    EXPECT_EQ(text(launch_with_block(kernel, bytes, *limits, written, {1024, 1, 1})), "none");
    const auto alone = described("guarded", "leave_alone");
    EXPECT_EQ(alone.verdict, Verdict::fixed);
    ASSERT_FALSE(alone.reasons.empty());
    EXPECT_EQ(alone.reasons[0].source, "app.cu:12");
}

TEST_F(Annotations, OfKernelsWhoseGridStays) {
    // Which blocks: the proof stands, of fewer of them.
    const KernelDescription fewer = described("by_rows", "block(bx <= 256)");
    EXPECT_TRUE(fewer.keeps_grid());
    EXPECT_EQ(fewer.verdict, Verdict::covering);
    EXPECT_TRUE(fewer.annotated_block.has_value());
    // What says more is in threads, and the programmer's word alone.
    for (const char* text : {"grid(ex / bx)", "block(ex % bx == 0)", "dynamic_shared(4 * bx)"}) {
        const KernelDescription word = described("by_rows", text);
        EXPECT_FALSE(word.keeps_grid()) << text;
        EXPECT_EQ(word.verdict, Verdict::annotated) << text;
        EXPECT_TRUE(word.strides.empty()) << text;
    }
    EXPECT_FALSE(described("by_rows", "block(ex % bx == 0)").annotated_grid[0].has_value());
}

TEST_F(Annotations, ComputeLikeC) {
    const auto value = [&](const std::string& expression, trimtab_dim3 block) {
        const auto kernel = described("guarded", "grid(" + expression + ")");
        trimtab_limits limits{};
        limits.extent = {1000, 1, 1};
        limits.max_block = {1024, 1024, 64};
        limits.max_grid = {2000000000, 1, 1};
        limits.max_threads = 1024;
        const auto launch = launch_with_block(kernel, arguments(kernel, pointer, 1000), limits,
                                              {{10, 1, 1}, {100, 1, 1}, 0}, block);
        return launch ? static_cast<long>(launch->grid.x) : -1;
    };
    EXPECT_EQ(value("1 + 2 * 3 << 1", {8, 1, 1}), 14);
    EXPECT_EQ(value("(n - 1) % 7 + ex / 100", {8, 1, 1}), 999 % 7 + 10);
    EXPECT_EQ(value("bx > 4 ? 5 : 6", {8, 1, 1}), 5);
    EXPECT_EQ(value("bx > 4 || bx == 2 ? 5 : 6", {2, 1, 1}), 5);
    EXPECT_EQ(value("max(bx, 3) * min(by, 7)", {2, 4, 1}), 12);
    EXPECT_EQ(value("0x10 | 3 & 2 ^ 1", {1, 1, 1}), (0x10 | ((3 & 2) ^ 1)));
    EXPECT_EQ(value("-n + 1001", {1, 1, 1}), 1);
    EXPECT_EQ(value("10 - 4 - 3", {1, 1, 1}), 3);
    EXPECT_EQ(value("~n + 1002", {1, 1, 1}), 1);
    EXPECT_EQ(value("(bx == 8) + !n + 1", {8, 1, 1}), 2);
    EXPECT_EQ(value("-1", {8, 1, 1}), -1);
    EXPECT_EQ(value("1 << 40", {8, 1, 1}), -1);
}

TEST_F(Annotations, ErrorsNameTheirPlace) {
    EXPECT_EQ(
        complaint("guarded", "block(bx <= m)"),
        "app.cu:12: annotation of 'guarded(float*, int)': the kernel has no parameter 'm', but out, n, at "
        "'m)'\n    block(bx <= m)\n                ^");
    // Of a long one, what lies around.
    EXPECT_THAT(complaint("guarded",
                          "block(bx < 5), block(by < 5), block(bx < n + n + n + n + n + n + n + n + "
                          "n + n + n + n + q), block(bx < 5), block(bx < 5)"),
                testing::ContainsRegex("\n    .{60}q\\), block.*\n {64}\\^$"));
    EXPECT_THAT(complaint("guarded", "block(bx <= )"), HasSubstr("an expression is missing"));
    EXPECT_THAT(complaint("guarded", "block(bx <= 5"), HasSubstr("')' is missing, at the end"));
    EXPECT_THAT(complaint("guarded", "blok(bx <= 5)"), HasSubstr("no such clause"));
    EXPECT_THAT(complaint("guarded", "block(bx < 5) grid(3)"), HasSubstr("what follows is not understood"));
    EXPECT_THAT(complaint("guarded", "grid(ceil(n))"), HasSubstr("ceil takes a division"));
    EXPECT_THAT(complaint("guarded", "grid(1, 2, 3, 4)"), HasSubstr("at most three"));
    EXPECT_THAT(complaint("guarded", "grid(n * 1.5)"), HasSubstr("numbers are whole"));
    EXPECT_THAT(complaint("guarded", "grid(out)"), HasSubstr("is no integer"));
    EXPECT_THAT(complaint("plane", "grid(factor)"), HasSubstr("is no integer"));
    EXPECT_THAT(complaint("plane", "grid(sizes)"), HasSubstr("is no integer"));
    EXPECT_THAT(complaint("plane", "grid(s32(sizes, 14))"), HasSubstr("no such bytes"));
    EXPECT_THAT(complaint("guarded", "grid(99999999999999999999)"), HasSubstr("64-bit"));
    EXPECT_THAT(complaint("guarded", "grid(sqrt(n))"), HasSubstr("no such function"));
    EXPECT_THAT(complaint("guarded", "grid(" + std::string(5000, '(')), HasSubstr("too deep"));
    std::string nested = "bx";
    for (int level = 0; level < 60; level++) nested = "ispow2(" + nested + ")";
    EXPECT_THAT(complaint("guarded", "block(" + nested + ")"), HasSubstr("too long"));
    EXPECT_THAT(complaint("guarded", "sizes(k)"), HasSubstr("no parameter 'k'"));
    EXPECT_THAT(complaint("guarded", ""), HasSubstr("no such clause"));
}

TEST_F(Annotations, SurviveTheirJson) {
    const auto kernel =
        described("block_sum",
                  "block(ispow2(bx), bx * by <= ex), grid(ceil(n / bx), 1), dynamic_shared(bx > 64 ? 8 : 4)");
    const nlohmann::json json = to_json(kernel);
    const auto schema =
        nlohmann::json::parse(read_file(std::string(TRIMTAB_SOURCE_DIR) + "/docs/description.schema.json"));
    EXPECT_EQ(schema_fault(schema, json), "");
    const auto again = description_from_json(json, "test");
    ASSERT_TRUE(again.has_value()) << again.error().text();
    EXPECT_EQ(again->annotated_block, kernel.annotated_block);
    EXPECT_EQ(again->annotated_grid, kernel.annotated_grid);
    EXPECT_EQ(again->annotated_shared, kernel.annotated_shared);
    EXPECT_EQ(again->verdict, Verdict::annotated);
}

}  // namespace
}  // namespace trimtab::analysis::test
