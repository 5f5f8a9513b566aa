// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpenCL C through the front end and on the emulator, against results of the CPU.
#include "emulation/opencl/front_end/front_end.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "core/base/temporary_folder.h"
#include "tests/emulation/emulator/fixture.h"

namespace trimtab::opencl {
namespace {

namespace fs = std::filesystem;
using emulator::test::HostMemory;
using emulator::test::Parameters;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = CompileFailure::Kind;

// Each test has a cache of its own.
struct FrontEnd : testing::Test {
    base::TemporaryFolder cache = base::TemporaryFolder::make().value();
    Compilers compilers = find_compilers().value();

    FrontEnd() { setenv("XDG_CACHE_HOME", cache.path().c_str(), 1); }
    ~FrontEnd() override { unsetenv("XDG_CACHE_HOME"); }

    [[nodiscard]] auto compile(const std::string& source, std::vector<std::string> options = {}) const {
        return compile_program(compilers, {.source = source, .options = std::move(options)});
    }
    [[nodiscard]] std::shared_ptr<emulator::Program> load(const std::string& source,
                                                          std::vector<std::string> options = {}) const {
        const auto program = compile(source, std::move(options));
        EXPECT_TRUE(program) << program.error().log;
        return program ? emulator::test::load(program->ptx) : nullptr;
    }
    [[nodiscard]] std::size_t kept() const {
        std::error_code none;
        std::size_t count = 0;
        for (const auto& entry : fs::directory_iterator(cache.path() + "/trimtab/opencl", none))
            count += entry.is_regular_file() ? 1 : 0;
        return count;
    }
};

std::vector<float> ramp(std::size_t count) {
    std::vector<float> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = 0.25f + static_cast<float>(i % 37) / 16;
    return out;
}

// Floats moved as unsigned numbers, through the kernel's own variables.
TEST_F(FrontEnd, NumbersMayBeMovedAsOthers) {
    const auto program = load(R"(
        void move(void* to, const void* from) {
            for (int k = 0; k < 4; k++) ((uint*)to)[k] = ((const uint*)from)[k];
        }
        kernel void twice(global float* x) {
            const size_t first = 4 * get_global_id(0);
            float four[4], doubled[4];
            for (int k = 0; k < 4; k++) four[k] = x[first + k];
            move(doubled, four);
            for (int k = 0; k < 4; k++) doubled[k] *= 2;
            move(four, doubled);
            for (int k = 0; k < 4; k++) x[first + k] = four[k];
        })");
    ASSERT_NE(program, nullptr);
    std::vector<float> x = ramp(128), expected = x;
    for (float& each : expected) each *= 2;
    HostMemory memory;
    const Parameters parameters(memory.add(x));
    emulator::test::run(*program, memory, "twice", {.grid = {1, 1, 1}, .block = {32, 1, 1}}, parameters);
    EXPECT_EQ(x, expected);
}

TEST_F(FrontEnd, ComputesWhatTheProcessorComputes) {
    const auto program = load(R"(
        kernel void mathematics(global const float* x, global float* y, global double* z, uint n) {
            uint i = get_global_id(0);
            if (i >= n) return;
            float4 v = (float4)(x[i], 1, 2, 3);
            y[i] = native_exp(x[i]) + native_log(x[i]) * native_log2(x[i]) + native_exp2(x[i]) + native_log10(x[i])
                 + native_exp10(x[i]) + sqrt(x[i]) + pow(x[i], 1.5f) + dot(v, native_exp(v)) + hypot(x[i], 2.0f)
                 + mad24(3, (int)i, 1);
            z[i] = exp((double)x[i]) + rsqrt((double)x[i]) + convert_int_rte(x[i]) + popcount(i) + get_work_dim();
        })");
    ASSERT_NE(program, nullptr);
    std::vector<float> x = ramp(100), y(100);
    std::vector<double> z(100);
    HostMemory memory;
    emulator::test::run(*program, memory, "mathematics", {.grid = {4, 1, 1}, .block = {32, 1, 1}},
                        Parameters(memory.add(x), memory.add(y), memory.add(z), 100u));
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double v = x[i];
        double expected = std::exp(v) + std::log(v) * std::log2(v) + std::exp2(v) + std::log10(v) +
                          std::pow(10, v) + std::sqrt(v) + std::pow(v, 1.5) + std::hypot(v, 2) +
                          3.0 * double(i) + 1;
        expected += v * std::exp(v) + std::exp(1) + 2 * std::exp(2) + 3 * std::exp(3);
        EXPECT_NEAR(y[i] / expected, 1, 2e-6) << i;
        const double whole =
            std::exp(v) + 1 / std::sqrt(v) + std::nearbyint(v) + __builtin_popcount(unsigned(i)) + 1;
        EXPECT_NEAR(z[i] / whole, 1, 1e-14) << i;
    }
}

TEST_F(FrontEnd, HasLocalMemoryAtomicsAndHalves) {
    const auto program = load(R"(
        kernel void sums(global const half* x, global float* y, global int* count, local float* part) {
            size_t l = get_local_id(0);
            part[l] = vload_half(get_global_id(0), x);
            for (size_t width = get_local_size(0) / 2; width > 0; width /= 2) {
                barrier(CLK_LOCAL_MEM_FENCE);
                if (l < width) part[l] += part[l + width];
            }
            if (l == 0) y[get_group_id(0)] = part[0];
            if (atomic_inc(count) % 2 == 0) atomic_add(count + 1, 3);
        })");
    ASSERT_NE(program, nullptr);
    std::vector<std::uint16_t> x(256);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 0x3c00 : 0x4000;  // 1 and 2
    std::vector<float> y(4);
    std::vector<int> count(2);
    HostMemory memory;
    emulator::test::run(*program, memory, "sums",
                        {.grid = {4, 1, 1}, .block = {64, 1, 1}, .shared_bytes = 64 * sizeof(float)},
                        Parameters(memory.add(x), memory.add(y), memory.add(count), std::uint64_t{0}));
    EXPECT_THAT(y, ElementsAre(96, 96, 96, 96));
    EXPECT_THAT(count, ElementsAre(256, 384));
}

TEST_F(FrontEnd, HasSubGroupsThatAreWarps) {
    const auto program = load(R"(
        kernel void scans(global const int* x, global int* y, global double* z, global uint* who) {
            size_t i = get_global_linear_id();
            y[4 * i] = sub_group_scan_inclusive_add(x[i]);
            y[4 * i + 1] = sub_group_scan_exclusive_max(x[i]);
            y[4 * i + 2] = sub_group_broadcast(x[i], 5);
            y[4 * i + 3] = sub_group_any(x[i] == 3) + 2 * sub_group_all(x[i] < 100);
            z[i] = sub_group_reduce_min((double)x[i] / 3);
            who[i] = get_sub_group_id() * 10000 + get_sub_group_local_id() * 100 + get_sub_group_size();
        })",
                              {"-cl-std=CL3.0"});
    ASSERT_NE(program, nullptr);
    // 24 x 2 work-items: a whole warp and one of 16.
    constexpr std::size_t n = 48;
    std::vector<int> x(n), y(4 * n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<int>((i * 29 + 11) % 101);
    std::vector<double> z(n);
    std::vector<std::uint32_t> who(n);
    HostMemory memory;
    emulator::test::run(*program, memory, "scans", {.grid = {1, 1, 1}, .block = {24, 2, 1}},
                        Parameters(memory.add(x), memory.add(y), memory.add(z), memory.add(who)));
    for (std::size_t i = 0; i < n; ++i) {
        const auto first = x.begin() + static_cast<std::ptrdiff_t>(i / 32 * 32);
        const auto own = x.begin() + static_cast<std::ptrdiff_t>(i);
        const auto end = i < 32 ? x.begin() + 32 : x.end();
        EXPECT_EQ(y[4 * i], std::accumulate(first, own + 1, 0)) << i;
        EXPECT_EQ(y[4 * i + 1], first == own ? INT32_MIN : *std::max_element(first, own)) << i;
        EXPECT_EQ(y[4 * i + 2], first[5]) << i;
        const bool any = std::find(first, end, 3) != end;
        const bool all = std::all_of(first, end, [](int value) { return value < 100; });
        EXPECT_EQ(y[4 * i + 3], int{any} + 2 * int{all}) << i;
        EXPECT_EQ(z[i], *std::min_element(first, end) / 3.0) << i;
        EXPECT_EQ(who[i], i / 32 * 10000 + i % 32 * 100 + (i < 32 ? 32 : 16)) << i;
    }
}

TEST_F(FrontEnd, HasFunctionsOfWholeWorkGroups) {
    const auto program = load(R"(
        kernel void scans(global const long* x, global long* y, global float* z) {
            size_t i = get_local_linear_id();
            y[6 * i] = work_group_scan_inclusive_add(x[i]);
            y[6 * i + 1] = work_group_scan_exclusive_add(x[i]);
            y[6 * i + 2] = work_group_scan_exclusive_max(x[i]);
            y[6 * i + 3] = work_group_reduce_min(x[i]);
            y[6 * i + 4] = work_group_broadcast(x[i], 3, 2);
            y[6 * i + 5] = work_group_any(x[i] == 77) + 2 * work_group_all(x[i] >= 0);
            z[i] = work_group_reduce_add((float)x[i]);
        })",
                              {"-cl-std=CL3.0"});
    ASSERT_NE(program, nullptr);
    constexpr std::size_t n = 200;  // 50 x 4: six whole warps and one of 8
    std::vector<std::int64_t> x(n), y(6 * n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<std::int64_t>((i * 29 + 11) % 101) << (i % 40);
    std::vector<float> z(n);
    HostMemory memory;
    emulator::test::run(*program, memory, "scans", {.grid = {1, 1, 1}, .block = {50, 4, 1}},
                        Parameters(memory.add(x), memory.add(y), memory.add(z)));
    std::int64_t sum = 0, greatest = INT64_MIN;
    const bool any = std::find(x.begin(), x.end(), 77) != x.end();
    const double total = std::accumulate(x.begin(), x.end(), 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        EXPECT_EQ(y[6 * i + 1], sum) << i;
        EXPECT_EQ(y[6 * i + 2], greatest) << i;
        sum += x[i];
        greatest = std::max(greatest, x[i]);
        EXPECT_EQ(y[6 * i], sum) << i;
        EXPECT_EQ(y[6 * i + 3], *std::min_element(x.begin(), x.end())) << i;
        EXPECT_EQ(y[6 * i + 4], x[2 * 50 + 3]) << i;
        EXPECT_EQ(y[6 * i + 5], int{any} + 2) << i;
        EXPECT_NEAR(z[i] / total, 1, 1e-6) << i;
    }
}

TEST_F(FrontEnd, HasTheAtomicsOfOpenCl2) {
    const auto program = load(R"(
        kernel void count(global atomic_int* total, global atomic_ulong* bits, global int* most) {
            local atomic_uint own;
            if (get_local_id(0) == 0) atomic_init(&own, 0u);
            barrier(CLK_LOCAL_MEM_FENCE);
            int i = get_global_id(0);
            atomic_fetch_add_explicit(&own, (uint)i, memory_order_relaxed, memory_scope_work_group);
            atomic_fetch_or(bits, 1ul << (i % 64));
            atomic_fetch_max_explicit((global atomic_int*)most, i * 7 % 101, memory_order_acq_rel);
            int seen = atomic_load(total + 1);
            while (!atomic_compare_exchange_weak(total + 1, &seen, seen + 2)) {}
            barrier(CLK_LOCAL_MEM_FENCE);
            if (get_local_id(0) == 0)
                atomic_fetch_sub(total, (int)atomic_load_explicit(&own, memory_order_seq_cst));
        })",
                              {"-cl-std=CL3.0"});
    ASSERT_NE(program, nullptr);
    std::vector<int> total(2), most(1);
    std::vector<std::uint64_t> bits(1);
    HostMemory memory;
    emulator::test::run(*program, memory, "count", {.grid = {3, 1, 1}, .block = {40, 1, 1}},
                        Parameters(memory.add(total), memory.add(bits), memory.add(most)));
    EXPECT_THAT(total, ElementsAre(-119 * 120 / 2, 2 * 120));
    EXPECT_EQ(bits[0], ~std::uint64_t{0});
    EXPECT_EQ(most[0], 100);
}

// What a launch of its kernel `say` by one thread prints.
std::string printed_by(emulator::Program& program, const Parameters& parameters) {
    HostMemory memory;
    std::string printed;
    const auto result = emulator::launch(program, memory,
                                         {.kernel = "say",
                                          .parameters = parameters.bytes(),
                                          .blocks = {},
                                          .counting = {},
                                          .threads = 1,
                                          .print = [&](std::string_view text) { printed += text; },
                                          .written = {}});
    EXPECT_TRUE(result) << result.error().message;
    return printed;
}

TEST_F(FrontEnd, PrintsThroughTheDevice) {
    const auto program = load(
        R"(kernel void say(int n) { if (printf("%d of %s, %.2f\n", n, "text", n / 4.0f) != 0) printf("no\n"); })");
    ASSERT_NE(program, nullptr);
    const std::string printed = printed_by(*program, Parameters(7));
    EXPECT_EQ(printed, "7 of text, 1.75\n");
}

TEST_F(FrontEnd, PrintsVectorsElementByElement) {
    const auto program = load(R"(kernel void say(float4 v) {
        printf("%.1v4hlf|%v2hld|%v3hlx|%v4hhd|%v8hu|%v2ld|%4v2hld|%d\n", v, (int2)(1, -2), (int3)(10, 11, 12),
               (char4)(1, 2, 3, -4), (ushort8)(65535), (long2)(5, -6), (int2)(7, 8), 9);
        printf("%v2lf %v2hle\n", (double2)(0.5, 2), (float2)(1, 2)); })");
    ASSERT_NE(program, nullptr);
    const std::string printed = printed_by(*program, Parameters(std::array<float, 4>{1, 2.5f, -3, 4}));
    EXPECT_EQ(printed,
              "1.0,2.5,-3.0,4.0|1,-2|a,b,c|1,2,3,-4|65535,65535,65535,65535,65535,65535,65535,65535|5,-6|"
              "   7,   8|9\n0.500000,2.000000 1.000000e+00,2.000000e+00\n");
}

// Libraries' own answers at the ends of what they take.
TEST_F(FrontEnd, HasFunctionsOfEveryArgument) {
    const auto program =
        load(R"(kernel void f(global const float* x, global float* out, global double* wide) {
        const size_t i = get_global_id(0);
        out[2 * i] = tgamma(x[i]), out[2 * i + 1] = lgamma(x[i]);
        const double2 v = cosh((double2)(x[i], 0)) + sinh((double2)(x[i], 0));
        wide[2 * i] = v.x, wide[2 * i + 1] = tgamma((double)x[i]); })");
    ASSERT_NE(program, nullptr);
    std::vector<float> x{NAN, -1.2e-21f, 1.2e-38f, -2.5f, 0.5f, 3, 30, -0.0f}, out(2 * x.size());
    std::vector<double> wide(2 * x.size());
    HostMemory memory;
    emulator::test::run(*program, memory, "f", {.grid = {1, 1, 1}, .block = {8, 1, 1}},
                        Parameters(memory.add(x), memory.add(out), memory.add(wide)));
    const auto expect = [&](double found, double value, std::size_t i) {
        if (std::isnan(value))
            EXPECT_TRUE(std::isnan(found)) << x[i];
        else if (std::isinf(value))
            EXPECT_EQ(found, value) << x[i];
        else
            EXPECT_NEAR(found, value, 2e-6 * std::abs(value)) << x[i];
    };
    for (std::size_t i = 0; i < x.size(); ++i) {
        expect(out[2 * i], std::tgamma(x[i]), i);
        expect(out[2 * i + 1], std::lgamma(x[i]), i);
        expect(wide[2 * i], std::exp(double{x[i]}), i);
        expect(wide[2 * i + 1], std::tgamma(double{x[i]}), i);
    }
}

TEST_F(FrontEnd, ReadsWhatPtxLacks) {
    const auto program = compile(R"(
        kernel __attribute__((reqd_work_group_size(8, 4, 2)))
        void first(global const float* restrict in, constant int* table, local uint4* part, unsigned n) {
            part[0] = (uint4)(n + table[0] + (int)in[0]);
        }
        kernel __attribute__((work_group_size_hint(64, 1, 1), vec_type_hint(uint3))) void second(global volatile int* out) { out[0] = 1; }
        kernel void third(global int* out) { second(out); })");
    ASSERT_TRUE(program) << program.error().log;
    ASSERT_EQ(program->kernels.size(), 3u);
    const KernelInfo& first = program->kernels[0];
    EXPECT_EQ(first.name, "first");
    EXPECT_THAT(first.required_size, ElementsAre(8, 4, 2));
    EXPECT_THAT(first.size_hint, ElementsAre(0, 0, 0));
    ASSERT_EQ(first.parameters.size(), 4u);
    EXPECT_EQ(first.parameters[0].name, "in");
    EXPECT_EQ(first.parameters[0].type, "float*");
    EXPECT_EQ(first.parameters[0].qualifiers, "restrict const");
    EXPECT_EQ(first.parameters[0].space, AddressSpace::global);
    EXPECT_EQ(first.parameters[1].space, AddressSpace::constant);
    EXPECT_EQ(first.parameters[2].type, "uint4*");
    EXPECT_EQ(first.parameters[2].space, AddressSpace::local);
    EXPECT_EQ(first.parameters[3].type, "uint");
    EXPECT_EQ(first.parameters[3].space, AddressSpace::none);
    EXPECT_THAT(program->kernels[1].size_hint, ElementsAre(64, 1, 1));
    EXPECT_EQ(program->kernels[1].vector_hint, "uint3");
    EXPECT_EQ(first.vector_hint, "");
    EXPECT_EQ(program->kernels[1].parameters[0].qualifiers, "volatile");
    EXPECT_EQ(program->ptx.find("__clang_ocl_kern_imp_"), std::string::npos);
    EXPECT_THAT(program->ir, HasSubstr("define dso_local ptx_kernel void @third("));
}

TEST_F(FrontEnd, SaysWhyAProgramDoesNotBuild) {
    const auto broken = compile("kernel void k(global int* p) {\n  p[0] = 1\n}\n");
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().kind, Kind::program);
    EXPECT_THAT(broken.error().log, HasSubstr("kernel.cl:2:11: error: expected ';'"));
    const auto unlinked =
        compile("float4 mine(float4 x, int n);\nkernel void k(global float4* p) { p[0] = mine(p[1], 2); }");
    ASSERT_FALSE(unlinked);
    EXPECT_THAT(unlinked.error().log, HasSubstr("kernel.cl: error: undefined function: mine"));
    for (const std::vector<std::string>& options : {std::vector<std::string>{"-o", "/tmp/x"},
                                                    {"@file"},
                                                    {"-cl-std=CLC++"},
                                                    {"-D"},
                                                    {"-Xclang"},
                                                    {""}}) {
        const auto refused = compile("kernel void k() {}", options);
        ASSERT_FALSE(refused) << options[0];
        EXPECT_EQ(refused.error().kind, Kind::options) << options[0];
    }
    const auto missing = compile_program({.clang = "/no/such/clang", .libdevice = compilers.libdevice},
                                         {.source = "kernel void k() {}"});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().kind, Kind::installation);
    EXPECT_EQ(kept(), 0u);
}

// GPUs' compilers take these with a warning, and programs were written with them.
TEST_F(FrontEnd, WarnsOfPointersOfOtherTypes) {
    const std::string source =
        "kernel void k(global float* p, ulong at) { global float2* q = p; local int* none = at; q[0] = 1; "
        "if (none) p[0] = 2; }";
    const auto warned = compile(source);
    ASSERT_TRUE(warned) << warned.error().log;
    EXPECT_THAT(warned->log, HasSubstr("warning: incompatible pointer types"));
    EXPECT_FALSE(compile(source, {"-Werror"}));
}

// A binary holds one code for each number of dimensions where that matters, else one.
TEST_F(FrontEnd, TellsWhetherTheDimensionsMatter) {
    const std::string kernel = "kernel void k(global int* p) { p[0] = ";
    for (int round = 0; round < 2; ++round) {  // made, and kept
        EXPECT_FALSE(compile(kernel + "1; }").value().asks_dimensions);
        EXPECT_TRUE(compile(kernel + "get_work_dim(); }").value().asks_dimensions);
    }
    const base::TemporaryFolder folder = base::TemporaryFolder::make().value();
    std::ofstream(folder.file("deep one.h")) << "#define DEEP (int)get_work_dim()\n";
    std::ofstream(folder.file("asks.h")) << "#define ASKED DEEP\n#include \"deep one.h\"\n";
    std::ofstream(folder.file("plain.h")) << "#define ASKED 3\n";
    for (const auto& [header, asks] : {std::pair{"asks.h", true}, {"plain.h", false}}) {
        const auto program = compile("#include \"" + std::string(header) + "\"\n" + kernel + "ASKED; }",
                                     {"-I" + folder.path()});
        ASSERT_TRUE(program) << program.error().log;
        EXPECT_EQ(program->asks_dimensions, asks) << header;
    }
}

TEST_F(FrontEnd, KeepsProgramsThatDependOnNothingElse) {
    const std::string source = "kernel void k(global int* p) { p[0] = VALUE; }";
    const auto first = compile(source, {"-D", "VALUE=41"});
    ASSERT_TRUE(first) << first.error().log;
    EXPECT_EQ(kept(), 1u);
    const auto again = compile(source, {"-DVALUE=41"});
    ASSERT_TRUE(again);
    EXPECT_EQ(kept(), 1u);
    EXPECT_EQ(again->ptx, first->ptx);
    EXPECT_EQ(again->ir, first->ir);
    EXPECT_EQ(again->kernels.at(0).parameters.at(0).type, "int*");
    const auto other = compile(source, {"-DVALUE=42"});
    ASSERT_TRUE(other);
    EXPECT_NE(other->ptx, first->ptx);
    EXPECT_EQ(kept(), 2u);
    // What somebody wrote over is not believed.
    for (const auto& entry : fs::directory_iterator(cache.path() + "/trimtab/opencl"))
        std::ofstream(entry.path()) << "nonsense";
    const auto anew = compile(source, {"-DVALUE=41"});
    ASSERT_TRUE(anew);
    EXPECT_EQ(anew->ptx, first->ptx);

    const auto including = [&](const char* value) {
        std::ofstream(cache.file("value.h")) << "#define VALUE " << value << "\n";
        const auto program = compile("#include \"value.h\"\n" + source, {"-I", cache.path()});
        EXPECT_TRUE(program) << program.error().log;
        return program ? program->ptx : "";
    };
    EXPECT_NE(including("1"), including("2"));
    EXPECT_EQ(kept(), 2u);
}

}  // namespace
}  // namespace trimtab::opencl
