// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descriptions: of real kernels, as JSON and back, and D at a launch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/analysis/describe.h"
#include "core/analysis/launches/legal_blocks.h"
#include "cuda_compiler.h"
#include "schema.h"

namespace trimtab::analysis::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string data_folder = std::string(TRIMTAB_SOURCE_DIR) + "/tests/core/analysis/data/";

// Verdicts written beside the kernels: "...void NAME(...  // VERDICT", and where loops must be unrolled to
// see it
// "// VERDICT, -O1: VERDICT".
std::map<std::string, std::string> expected_verdicts(const std::string& source, const std::string& level) {
    std::map<std::string, std::string> verdicts;
    std::istringstream lines(source);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t comment = line.rfind("  // ");
        const std::size_t end = line.find("_kernel(");
        if (comment == std::string::npos || end == std::string::npos || end > comment) continue;
        const std::size_t start = line.rfind(' ', end) + 1;
        std::string verdict = line.substr(comment + 5);
        if (const std::size_t comma = verdict.find(", "); comma != std::string::npos) {
            const std::string other = verdict.substr(comma + 2);
            verdict =
                other.starts_with(level + ": ") ? other.substr(level.size() + 2) : verdict.substr(0, comma);
        }
        verdicts[line.substr(start, end + 7 - start)] = verdict;
    }
    return verdicts;
}

void expect_verdicts(const std::vector<KernelDescription>& kernels, const std::string& level) {
    const auto expected = expected_verdicts(read_file(data_folder + "typical.cu"), level);
    ASSERT_GT(expected.size(), 100u);
    std::map<std::string, std::string> found;
    for (const KernelDescription& kernel : kernels) {
        std::string name = kernel.demangled.substr(0, kernel.demangled.find_first_of("(<"));
        if (const std::size_t space = name.rfind(' '); space != std::string::npos) name.erase(0, space + 1);
        std::string why;
        for (const Reason& reason : kernel.reasons) why += "\n  " + reason.text;
        EXPECT_EQ(std::string(trimtab::analysis::name(kernel.verdict)),
                  expected.contains(name) ? expected.at(name) : "not expected")
            << name << why;
        found[name] = "";
    }
    EXPECT_EQ(found.size(), expected.size());
}

TEST(TypicalKernels, ByNvcc) {
    expect_verdicts(describe_ptx(read_file(data_folder + "typical.nvcc.ptx")), "-O3");
}

class TypicalKernelsByClang : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Levels, TypicalKernelsByClang, testing::Values("-O1", "-O3"),
                         [](const auto& info) { return std::string(info.param + 1); });
TEST_P(TypicalKernelsByClang, GetTheSameVerdicts) {
    expect_verdicts(describe_ptx(compile_cuda_file(data_folder + "typical.cu", GetParam())), GetParam());
}

TEST(Samples, AreRecognised) {
    const std::map<std::string, Verdict> others{{"block_sum", Verdict::fixed},
                                                {"tiled_matmul", Verdict::fixed}};
    const std::string folder = std::string(TRIMTAB_SOURCE_DIR) + "/samples/";
    std::size_t count = 0;
    for (const char* sample :
         {"polybench/gemm", "polybench/2dconv", "polybench/3dconv", "polybench/corr", "polybench/gramschm",
          "polybench/fdtd2d", "polybench/syr2k", "more/saxpy", "more/stencil3d", "more/mandelbrot",
          "more/block_reduction", "more/tiled_matmul"}) {
        for (const KernelDescription& kernel :
             describe_ptx(compile_cuda_file(folder + sample + ".cu", "-O3"))) {
            const std::string name = kernel.demangled.substr(0, kernel.demangled.find('('));
            const auto other = others.find(name);
            EXPECT_EQ(kernel.verdict, other == others.end() ? Verdict::covering : other->second) << name;
            EXPECT_EQ(kernel.verdict == Verdict::covering, kernel.reasons.empty()) << name;
            count++;
        }
    }
    EXPECT_GE(count, 18u);
}

// --- data parameters ---

std::string data_text(const KernelDescription& kernel) {
    std::string text;
    for (const DataParameter& data : kernel.data) {
        if (!text.empty()) text += " ";
        text += data.name + ":" + data.type;
        if (!data.in_memo) text += "-";
        if (data.coarse_in_memo) text += "~";
        if (data.bounds) text += std::string("<") + "xyz"[static_cast<std::size_t>(*data.bounds)];
        if (data.divides) text += "/";
        if (data.counts) text += "#";
    }
    return text;
}

constexpr std::string_view data_source = R"(
    __global__ void gemm(const float* a, const float* b, float* c, int ni, int nj, int nk, float alpha) {
        int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
        if (i < ni && j < nj)
            for (int k = 0; k < nk; k++) c[i * nj + j] += alpha * a[i * nk + k] * b[k * nj + j];
    }
    __global__ void step(float* e, const float* source, int t, int ny) {
        int j = blockIdx.x * blockDim.x + threadIdx.x;
        if (j < ny - 1) e[j] = source[t];
    }
    __global__ void triangle(float* a, int n, int k) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i > k && i < n)
            for (int j = k + 1; j < n; j++) a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
    struct Options { float* out; int n; int stride; float scale; long offset; };
    __global__ void by_value(Options o) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < o.n) o.out[i * o.stride + o.offset] = o.scale;
    }
    __global__ void escape(int* o, int n, float limit, unsigned long steps, float colour) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        float x = i;
        int k = 0;
        while (k < steps && x < limit) { x = x * x + 0.1f; k++; }
        o[i] = k * colour;
    }
    __global__ void rows(float* o, const float* a, int n, long width, unsigned each, int shift) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) o[i] = a[i % width + (unsigned)i / each + i / 3 + shift];
    }
    __global__ void sum(float* o, unsigned n) {
        for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) o[i] += 1;
    }
)";

TEST(DataParameters, AreThoseThatSetTheWork) {
    const auto kernels = describe_ptx(compile_cuda(data_source, "-O3"));
    // alpha changes values, not work.
    EXPECT_EQ(data_text(kernel_named(kernels, "gemm")),
              "param_3:s32<y param_4:s32<x param_5:s32 extent.x:u32 extent.y:u32");
    // t only moves an address.
    EXPECT_EQ(data_text(kernel_named(kernels, "step")), "param_2:s32- param_3:s32<x extent.x:u32");
    // k makes the triangle smaller from launch to launch.
    EXPECT_EQ(data_text(kernel_named(kernels, "triangle")), "param_1:s32<x param_2:s32~ extent.x:u32");
    EXPECT_EQ(data_text(kernel_named(kernels, "by_value")),
              "param_0+8:s32<x param_0+12:s32 param_0+24:s64- extent.x:u32");
    EXPECT_EQ(data_text(kernel_named(kernels, "escape")),
              "param_1:s32<x param_2:f32~ param_3:u64~ extent.x:u32");
    // Indices are taken apart by sizes.
    EXPECT_EQ(data_text(kernel_named(kernels, "rows")),
              "param_2:s32<x param_3:s64/ param_4:u32/ param_5:s32- extent.x:u32");
    // The index of a grid-stride loop runs on: n is not tied to the extent.
    EXPECT_EQ(data_text(kernel_named(kernels, "sum")), "param_1:u32 extent.x:u32");
}

TEST(DataParameters, AreReadFromTheLaunch) {
    const auto kernels = describe_ptx(compile_cuda(data_source, "-O3"));
    const KernelDescription& kernel = kernel_named(kernels, "by_value");
    struct Options {
        void* out;
        int n, stride;
        float scale;
        long offset;
    } options{nullptr, -5, 3, 0.5f, 1l << 33};
    ASSERT_EQ(kernel.parameters.size(), 1u);
    ASSERT_EQ(kernel.parameters[0].size, sizeof options);
    std::vector<std::byte> bytes(sizeof options);
    std::memcpy(bytes.data(), &options, sizeof options);
    EXPECT_THAT(data_values(kernel, bytes, {4096, 1, 1}), ElementsAre(-5, 3, 8589934592.0, 4096));
    EXPECT_EQ(kernel.data_index("param_0+12"), 1u);
    EXPECT_EQ(kernel.data_index("n"), std::nullopt);

    const KernelDescription& escape = kernel_named(kernels, "escape");
    EXPECT_EQ(escape.parameter_offsets(), (std::vector<std::uint32_t>{0, 8, 12, 16, 24}));
    EXPECT_EQ(escape.parameters[0].type, "int *");
    EXPECT_EQ(escape.parameters[0].pointee, "int");
    EXPECT_TRUE(escape.parameters[0].is_pointer);
}

TEST(DataParameters, ElementsOfTablesAreCounted) {
    const auto kernels = describe_ptx(compile_cuda(R"(
        extern "C" __global__ void k(int* sizes, const int* level, int n, int levels) {
            extern __shared__ int own[];
            for (int k = threadIdx.x; k < levels; k += blockDim.x) own[k] = 0;
            __syncthreads();
            int v = blockIdx.x * blockDim.x + threadIdx.x;
            if (v < n && level[v] >= 0)
                __nvvm_atom_add_gen_i(&own[level[v] < levels ? level[v] : levels - 1], 1);
            __syncthreads();
            for (int k = threadIdx.x; k < levels; k += blockDim.x) __nvvm_atom_add_gen_i(&sizes[k], own[k]);
        })",
                                                   "-O3"));
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].verdict, Verdict::covering);
    const auto levels = kernels[0].data_index("param_3");
    ASSERT_TRUE(levels.has_value());
    EXPECT_TRUE(kernels[0].data[*levels].in_memo);  // else it would be taken for an offset, 0 in the profile
}

TEST(DataParameters, TakeNamesAndLinesFromTheSource) {
    const std::string path = testing::TempDir() + "/kernels-" + std::to_string(getpid()) + ".json";
    std::ofstream(path) << R"json({"kernels": {"_Z4stepPfPKfii": {
        "demangled": "step(float*, const float*, int, int)", "file": "fdtd.cu", "line": 7, "parameters": [
            {"name": "ex", "type": "float *"}, {"name": "fict", "type": "const float *"},
            {"name": "t", "type": "int"}, {"name": "ny", "type": "int"}]}}})json";
    const auto sources = read_kernel_sources(path);
    ASSERT_TRUE(sources.has_value()) << sources.error().text();
    const auto module = ptx::parse(compile_cuda(data_source, "-O2 -gline-tables-only"), "test.ptx");
    ASSERT_TRUE(module.has_value());
    Image image;
    image.module = &*module;
    image.architecture = "sm_75";
    const auto kernels = describe({&image, 1}, *sources);
    ASSERT_TRUE(kernels.has_value());
    const auto step = std::ranges::find(*kernels, "_Z4stepPfPKfii", &KernelDescription::name);
    ASSERT_NE(step, kernels->end());
    EXPECT_EQ(step->source, "fdtd.cu:7");
    EXPECT_EQ(data_text(*step), "t:s32- ny:s32<x extent.x:u32");
    ASSERT_EQ(step->guards.size(), 1u);
    EXPECT_THAT(step->guards[0].source, testing::MatchesRegex(".*\\.cu:[0-9]+"));
}

TEST(KernelSources, FaultsNameTheFile) {
    const auto error_of = [](const std::string& text) {
        const std::string path = testing::TempDir() + "/bad.json";
        std::ofstream(path) << text;
        const auto sources = read_kernel_sources(path);
        EXPECT_FALSE(sources.has_value());
        return sources ? std::string() : sources.error().text();
    };
    EXPECT_THAT(error_of("{"), HasSubstr("bad.json:1:1: not valid JSON"));
    EXPECT_THAT(error_of("[]"), HasSubstr("bad.json: kernel sources is not an object"));
    EXPECT_THAT(error_of(R"({"kernels": {"k": 3}})"), HasSubstr("kernel sources.kernels.k is not an object"));
    EXPECT_THAT(error_of(R"({"kernels": {"k": {"line": -1}}})"),
                HasSubstr("kernel sources.kernels.k.line is not a whole number from 0 on"));
    EXPECT_THAT(error_of(R"({"kernels": {"k": {"parameters": [1]}}})"),
                HasSubstr("kernel sources.kernels.k.parameters[0] is not an object"));
    const auto missing = read_kernel_sources("/nowhere/kernels.json");
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().text(), "/nowhere/kernels.json: cannot be read");
}

// --- JSON ---

TEST(DescriptionJson, FitsItsSchemaAndComesBack) {
    const json schema =
        json::parse(read_file(std::string(TRIMTAB_SOURCE_DIR) + "/docs/description.schema.json"));
    auto kernels = describe_ptx(read_file(data_folder + "typical.nvcc.ptx"));
    ASSERT_FALSE(kernels.empty());
    kernels.front().annotated_block = kernels.front().guards.front().exits.arguments[1];
    kernels.front().annotated_grid[1] = kernels.front().annotated_block;
    for (const KernelDescription& kernel : kernels) {
        const json object = json::parse(to_json(kernel).dump());
        EXPECT_EQ(schema_fault(schema, object), "") << kernel.name;
        const auto again = description_from_json(object, "test");
        ASSERT_TRUE(again.has_value()) << again.error().text();
        EXPECT_EQ(to_json(*again), object);
        EXPECT_EQ(again->parameter_offsets(), kernel.parameter_offsets());
    }
}

TEST(DescriptionJson, SchemaIsNoRubberStamp) {
    const json schema =
        json::parse(read_file(std::string(TRIMTAB_SOURCE_DIR) + "/docs/description.schema.json"));
    const auto kernels = describe_ptx(compile_cuda(data_source, "-O1"));
    const json good = to_json(kernels.front());
    ASSERT_EQ(schema_fault(schema, good), "");
    const auto broken = [&](auto change) {
        json object = good;
        change(object);
        return schema_fault(schema, object);
    };
    EXPECT_THAT(broken([](json& object) { object.erase("verdict"); }), HasSubstr("lacks \"verdict\""));
    EXPECT_THAT(broken([](json& object) { object["verdict"] = "perhaps"; }), HasSubstr("verdict"));
    EXPECT_THAT(broken([](json& object) { object["id"] = "12"; }), HasSubstr("does not match"));
    EXPECT_THAT(broken([](json& object) { object["extra"] = 1; }), HasSubstr("no place for 'extra'"));
    EXPECT_THAT(broken([](json& object) { object["guards"][0]["exits"][0] = "add.f32"; }),
                HasSubstr("exits"));
}

TEST(DescriptionJson, FaultsSayWhereTheyLie) {
    const auto kernels = describe_ptx(compile_cuda(data_source, "-O1"));
    const json good = to_json(kernels.front());
    const auto error_of = [&](auto change) {
        json object = good;
        change(object);
        const auto result = description_from_json(object, "gemm.json");
        return result ? std::string("no error") : result.error().text();
    };
    EXPECT_EQ(error_of([](json&) {}), "no error");
    EXPECT_EQ(error_of([](json& object) { object["abi"] = 3; }),
              "gemm.json: kernel description.abi is 3, this is 2");
    EXPECT_EQ(error_of([](json& object) { object.erase("name"); }),
              "gemm.json: kernel description has no member \"name\"");
    EXPECT_THAT(error_of([](json& object) { object["parameters"][2]["size"] = -1; }),
                HasSubstr("parameters[2].size is not a whole number from 0 on"));
    EXPECT_THAT(error_of([](json& object) {
                    object["dimensions"] = {{"w", {{"index", "global"}, {"block", "any"}}}};
                }),
                HasSubstr("which is none of x, y, z"));
    EXPECT_THAT(error_of([](json& object) { object["guards"][0]["exits"] = json::array({"nonsense"}); }),
                HasSubstr("unknown operator 'nonsense'"));
    EXPECT_THAT(
        error_of([](json& object) { object["guards"][1]["exits"] = object["guards"][1]["exits"][1]; }),
        HasSubstr("guards[1].exits is no predicate"));
    EXPECT_THAT(error_of([](json& object) { object["data_sources"][0]["type"] = "float3"; }),
                HasSubstr("data_sources[0].type is an unknown type 'float3'"));
    EXPECT_THAT(error_of([](json& object) { object = json::array(); }), HasSubstr("is not an object"));
}

// --- fat binaries ---

ptx::FatBinaryImage ptx_image(const std::string& text, unsigned architecture) {
    ptx::FatBinaryImage image;
    image.architecture = architecture;
    image.architecture_name = "sm_" + std::to_string(architecture);
    const auto bytes = std::as_bytes(std::span(text));
    image.bytes.assign(bytes.begin(), bytes.end());
    return image;
}

TEST(DescribeFatBinary, ParsesEachImageAndKeepsTheModules) {
    const std::string text = compile_cuda(data_source, "-O2");
    ptx::FatBinary binary;
    binary.hash = "0123456789abcdef";
    binary.images.push_back(ptx_image(text, 75));
    binary.images.push_back(ptx_image(text, 61));
    const auto described = describe_fat_binary(binary, {}, "gemm");
    ASSERT_TRUE(described.has_value()) << described.error().text();
    EXPECT_EQ(described->hash, "0123456789abcdef");
    EXPECT_EQ(described->modules.size(), 2u);
    EXPECT_EQ(described->kernels.size(), 7u);
    for (const KernelDescription& kernel : described->kernels) {
        ASSERT_EQ(kernel.images.size(), 2u);
        EXPECT_EQ(kernel.images[0].registers_from, "estimated from PTX");
        EXPECT_GT(kernel.images[0].registers, 0u);
        EXPECT_NE(described->modules[0].function(kernel.name), nullptr);
    }
    // As the driver picks: the highest that is not above; where there is none, the lowest.
    const KernelDescription& kernel = described->kernels.front();
    EXPECT_EQ(image_for(kernel, 86).architecture, "sm_75");
    EXPECT_EQ(image_for(kernel, 70).architecture, "sm_61");
    EXPECT_EQ(image_for(kernel, 35).architecture, "sm_61");
    // Threads share the modules, and what comes out is the same in the same order.
    for (const unsigned threads : {3u, 64u}) {
        const auto by_threads = describe_fat_binary(binary, {}, "gemm", {}, threads);
        ASSERT_TRUE(by_threads.has_value()) << by_threads.error().text();
        ASSERT_EQ(by_threads->kernels.size(), described->kernels.size());
        for (std::size_t i = 0; i < described->kernels.size(); ++i)
            EXPECT_EQ(to_json(by_threads->kernels[i]), to_json(described->kernels[i]));
    }
}

TEST(DescribeFatBinary, FaultsNameTheImage) {
    ptx::FatBinary binary;
    const auto none = describe_fat_binary(binary, {}, "gemm");
    ASSERT_FALSE(none.has_value());
    EXPECT_THAT(none.error().text(), HasSubstr("gemm: the fat binary holds no PTX"));
    binary.images.push_back(ptx_image(".version 7.0\n.target sm_75\n.visible .entry k(\n", 75));
    const auto cut = describe_fat_binary(binary, {}, "gemm");
    ASSERT_FALSE(cut.has_value());
    EXPECT_THAT(cut.error().text(), testing::StartsWith("gemm (sm_75 PTX):"));
    ptx::FatBinaryImage cubin = ptx_image("not a cubin", 75);
    cubin.kind = ptx::FatBinaryImage::Kind::cubin;
    binary.images = {cubin};
    const auto broken = describe_fat_binary(binary, {}, "gemm");
    ASSERT_FALSE(broken.has_value());
    EXPECT_THAT(broken.error().text(), testing::StartsWith("gemm (sm_75 cubin)"));
}

ptx::FatBinaryImage cubin_image() {
    ptx::FatBinaryImage image = ptx_image(read_file(data_folder + "guarded.sm_75.cubin"), 75);
    image.kind = ptx::FatBinaryImage::Kind::cubin;
    return image;
}
// What guarded.sm_75.cubin was made from, by nvcc 13.0.
constexpr std::string_view guarded_source = R"(
    __global__ void k(float* o, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) o[i] = 1;
    })";

TEST(DescribeFatBinary, TakesRegistersFromTheCubinBesideThePtx) {
    ptx::FatBinary binary;
    const std::string text = compile_cuda(guarded_source, "-O3");
    binary.images = {cubin_image(), ptx_image(text, 61), ptx_image(text, 75)};
    const auto described = describe_fat_binary(binary, {}, "program");
    ASSERT_TRUE(described.has_value()) << described.error().text();
    const KernelDescription& kernel = described->kernels.front();
    EXPECT_EQ(kernel.verdict, Verdict::covering);
    ASSERT_EQ(kernel.images.size(), 2u);
    EXPECT_EQ(kernel.images[0].registers_from, "ptxas sm_75 (proxy for sm_61)");
    EXPECT_EQ(kernel.images[1].registers_from, "ptxas sm_75");
    EXPECT_EQ(kernel.images[1].registers, 8u);
}

TEST(DescribeFatBinary, MachineCodeWithoutItsPtxIsNotProved) {
    // sm_75 may have been compiled from other source than sm_80's PTX shows.
    ptx::FatBinary binary;
    binary.images = {cubin_image(), ptx_image(compile_cuda(guarded_source, "-O3"), 80)};
    const auto described = describe_fat_binary(binary, {}, "program");
    ASSERT_TRUE(described.has_value()) << described.error().text();
    const KernelDescription& kernel = described->kernels.front();
    EXPECT_EQ(kernel.verdict, Verdict::fixed);
    ASSERT_EQ(kernel.reasons.size(), 1u);
    EXPECT_THAT(kernel.reasons[0].text, HasSubstr("machine code for sm_75 without the PTX"));
    EXPECT_EQ(kernel.images.back().architecture, "sm_75");
}

TEST(DescribeFatBinary, LinksThePartsOfRelocatableCode) {
    constexpr std::string_view header = "extern __device__ float half_of(const float* x, int i);\n";
    const std::string caller = compile_cuda(std::string(header) + R"(
        __global__ void k(float* o, const float* x, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) o[i] = half_of(x, i);
        })",
                                            "-O3 -fgpu-rdc");
    const std::string callee = compile_cuda(
        std::string(header) + "__device__ float half_of(const float* x, int i) { return x[i] / 2; }",
        "-O3 -fgpu-rdc");
    ptx::FatBinary binary;
    binary.images = {ptx_image(caller, 75)};
    const auto alone = describe_fat_binary(binary, {}, "program");
    ASSERT_TRUE(alone.has_value()) << alone.error().text();
    EXPECT_EQ(alone->kernels.front().verdict, Verdict::fixed);
    EXPECT_THAT(alone->kernels.front().reasons.front().text, HasSubstr("whose code is not in the image"));
    binary.images.push_back(ptx_image(callee, 75));
    const auto linked = describe_fat_binary(binary, {}, "program");
    ASSERT_TRUE(linked.has_value()) << linked.error().text();
    EXPECT_EQ(linked->modules.size(), 1u);
    EXPECT_EQ(linked->kernels.front().verdict, Verdict::covering);
}

TEST(Reasons, NameTheAtomicBeforeTheFenceThatComesWithIt) {
    const auto kernels = describe_ptx(compile_cuda(R"(
        extern "C" __global__ void k(int* level, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n && __nvvm_atom_cas_gen_i(&level[i / 2], -1, 1) == -1) level[n + i] = 1;
        })",
                                                   "-O3"));
    ASSERT_EQ(kernels.size(), 1u);
    ASSERT_FALSE(kernels[0].reasons.empty());
    EXPECT_THAT(kernels[0].reasons.front().text,
                HasSubstr("cas.b32, whose outcome depends on the order of threads"));
}

TEST(Pointees, AreInferredWhereNoNameSaysThem) {
    const auto kernels = describe_ptx(compile_cuda(R"(
        extern "C" __global__ void k(float* a, const int* b, double* c, unsigned char* d, long long* f, short* g,
                                     unsigned n) {
            unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) { a[i] = a[i] + b[i]; c[i] *= 2; d[i] = 1; f[i] += g[i]; }
        })",
                                                   "-O3"));
    ASSERT_EQ(kernels.size(), 1u);
    const std::vector<std::string> expected{"float", "int", "double", "unsigned char", "long long", "short"};
    for (std::size_t i = 0; i < expected.size(); i++) {
        EXPECT_TRUE(kernels[0].parameters[i].is_pointer);
        EXPECT_EQ(kernels[0].parameters[i].pointee, expected[i]);
    }
    EXPECT_FALSE(kernels[0].parameters[6].is_pointer);
}

TEST(Pointees, OfPointersInStructsAreInferredToo) {
    const auto kernels = describe_ptx(compile_cuda(R"(
        struct Rows { double* sum; int count; const int* first; const float* never; };
        extern "C" __global__ void k(Rows rows, const float* a) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i >= rows.count) return;
            double sum = 0;
            for (int e = rows.first[i]; e < rows.first[i + 1]; e++) sum += a[e];
            rows.sum[i] += sum;
        })",
                                                   "-O3"));
    ASSERT_EQ(kernels.size(), 1u);
    auto members = kernels[0].parameters[0].members;
    std::ranges::sort(members, {}, &PointerMember::offset);
    EXPECT_EQ(members, (std::vector<PointerMember>{{.offset = 0, .pointee = "double"},
                                                   {.offset = 16, .pointee = "int"}}));
    EXPECT_TRUE(kernels[0].parameters[1].members.empty());
    const auto read = description_from_json(to_json(kernels[0]), "test");
    ASSERT_TRUE(read.has_value()) << read.error().text();
    EXPECT_EQ(read->parameters[0].members, kernels[0].parameters[0].members);
}

// --- long code ---

TEST(LongCode, IsDescribedInLinearTime) {
    // Each value twice in the next: written out as a tree this has 2^4000 leaves.
    std::ostringstream text;
    text << ".version 7.0\n.target sm_75\n.address_size 64\n"
            ".visible .entry hash(.param .u64 o, .param .u32 n)\n{\n"
            ".reg .pred %p<9>; .reg .b32 %r<20000>; .reg .b64 %rd<9>;\n"
            "ld.param.u64 %rd1, [o]; ld.param.u32 %r5, [n];\n"
            "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, "
            "%r3;\n";
    int last = 4, next = 10;
    for (int step = 0; step < 4000; step++) {
        text << "shl.b32 %r" << next << ", %r" << last << ", 13; xor.b32 %r" << next + 1 << ", %r" << last
             << ", %r" << next << "; mad.lo.s32 %r" << next + 2 << ", %r" << next + 1 << ", 1664525, %r"
             << last << ";\n";
        last = next + 2;
        next += 3;
    }
    text << "setp.ge.s32 %p1, %r" << last << ", %r5; @%p1 bra END;\n"
         << "mul.wide.s32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r" << last
         << ";\nEND: ret;\n}\n";
    const auto kernels = describe_ptx(text.str());
    ASSERT_EQ(kernels.size(), 1u);
    EXPECT_EQ(kernels[0].verdict, Verdict::dividing);
}

}  // namespace
}  // namespace trimtab::analysis::test
