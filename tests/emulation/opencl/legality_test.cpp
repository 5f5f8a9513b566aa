// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which work-groups OpenCL's kernels may have: by what the proof says of each, and by running every size that it allows.
#include <gmock/gmock.h>

#include <cstring>
#include <map>

#include "core/analysis/launches/legal_blocks.h"
#include "core/model/device.h"
#include "tests/emulation/emulator/fixture.h"
#include "tests/emulation/opencl/compiled_kernels.h"

namespace trimtab::opencl {
namespace {

using analysis::Verdict;
using emulator::test::HostMemory;
using emulator::test::Parameters;

constexpr std::uint32_t items = 96;  // as written: 6 work-groups of 16

struct Expected {
    Verdict verdict;
    bool may_grow;  // with n = items
};
const std::map<std::string, Expected> expected{{"guarded", {Verdict::covering, true}},
                                               {"guarded_one_late", {Verdict::covering, false}},
                                               {"guarded_without_sign", {Verdict::covering, true}},
                                               {"guarded_in_a_byte", {Verdict::dividing, false}},
                                               {"guarded_by_choice", {Verdict::dividing, false}},
                                               {"guarded_in_24_bits", {Verdict::covering, true}},
                                               // The compiler has put its load behind the guard.
                                               {"guarded_too_late", {Verdict::covering, true}},
                                               {"strides", {Verdict::covering, true}},
                                               {"strides_by_an_int", {Verdict::covering, true}},
                                               {"strides_and_tells", {Verdict::dividing, false}},
                                               {"counts_all", {Verdict::dividing, false}},
                                               {"counts_groups", {Verdict::fixed, false}},
                                               {"knows_no_offset", {Verdict::covering, true}},
                                               {"in_a_line", {Verdict::dividing, false}},
                                               {"in_its_group", {Verdict::fixed, false}},
                                               {"enqueued", {Verdict::fixed, false}},
                                               {"adds", {Verdict::covering, true}},
                                               {"adds_and_looks", {Verdict::fixed, false}},
                                               {"waits", {Verdict::fixed, false}},
                                               {"copies_as_a_group", {Verdict::fixed, false}},
                                               {"sums_its_group", {Verdict::fixed, false}},
                                               {"spins", {Verdict::fixed, false}},
                                               {"fills_a_picture", {Verdict::covering, true}},
                                               // PTX does not say that it is; its launches are kept.
                                               {"bound", {Verdict::covering, true}}};

class OpenClLegality : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        ptx() = test::ptx_of("hostile.cl");
        kernels() = test::describe_kernels(ptx());
    }
    static std::string& ptx() {
        static std::string text;
        return text;
    }
    static std::map<std::string, analysis::KernelDescription>& kernels() {
        static std::map<std::string, analysis::KernelDescription> all;
        return all;
    }
    // Of a launch of 96 work-items in work-groups of 16.
    static std::expected<trimtab_limits, std::string> limits_of(const analysis::KernelDescription& kernel,
                                                                int n) {
        std::vector<std::byte> arguments(12);
        const std::uint64_t address = std::uint64_t{1} << 40;
        std::memcpy(arguments.data(), &address, sizeof address);
        std::memcpy(arguments.data() + 8, &n, sizeof n);
        const auto device = model::find_device("rtx2070super").value();
        return analysis::legal_blocks(kernel, arguments, {items / 16, 1, 1}, {16, 1, 1}, device.values,
                                      analysis::to_driver_image(analysis::image_for(kernel, 75)));
    }
};

TEST_F(OpenClLegality, TwinsAreToldApart) {
    EXPECT_EQ(kernels().size(), expected.size());
    for (const auto& [name, what] : expected) {
        ASSERT_TRUE(kernels().contains(name)) << name;
        const analysis::KernelDescription& kernel = kernels()[name];
        EXPECT_EQ(analysis::name(kernel.verdict), analysis::name(what.verdict))
            << name << ": " << (kernel.reasons.empty() ? "" : kernel.reasons[0].text);
        if (kernel.verdict == Verdict::fixed) continue;
        const auto limits = limits_of(kernel, items);
        EXPECT_EQ(limits && analysis::is_legal(*limits, {64, 1, 1}), what.may_grow)
            << name << ": 64 work-items do not divide 96";
        EXPECT_TRUE(limits && analysis::is_legal(*limits, {32, 1, 1})) << name;
    }
}

// Of a source that another compiler compiles, nothing holds but what it says: a load before the guard is one, and a store.
TEST_F(OpenClLegality, AccessesThatTheSourceMakesAreAccesses) {
    const auto compile = [](const std::string& source, std::vector<std::string> options) {
        return test::compile({.source = source, .options = std::move(options), .keeps_accesses = true});
    };
    const auto made = compile(R"(
        typedef struct { int a, b, c, d; } Four;
        kernel void guarded(global int* x, int n) { int i = get_global_id(0); if (i < n) x[i] += 1; }
        kernel void guarded_for_nothing(global int* x, int n) {
            int i = get_global_id(0); if (i < n) x[i] = x[i];
        }
        kernel void guarded_reads_of_all(global int* x, global const int* y, global const Four* four, int n) {
            int i = get_global_id(0);
            if (i >= n) return;
            Four mine = four[i];
            int4 v = vload4(i, y);
            int sum = 0;
            for (int k = 0; k < n; ++k) sum += y[k] * v.y + mine.b;
            x[i] = sum;
        }
        kernel void too_late(global int* x, int n) {
            int i = get_global_id(0); int old = x[i]; if (i < n) x[i] = old + 1;
        }
        kernel void for_nothing(global int* x, int n) {
            int i = get_global_id(0); int old = x[i]; if (i < n) x[i] = 1;
        }
        kernel void as_it_was(global int* x, int n) { int i = get_global_id(0); x[i] = x[i]; }
        kernel void as_it_was_in_its_place(global int* x, int n) {
            int i = get_global_id(0); int old = x[i]; if (i < n) x[i] = old; else x[i] = old;
        }
        kernel void as_it_was_after_all(global int* x, int n) {
            int i = get_global_id(0); int old = x[i]; int new = old; if (i < n) new = 7; x[i] = new;
        }
        kernel void four_as_they_were(global Four* x, int n) { int i = get_global_id(0); x[i] = x[i]; }
        kernel void vectors_as_they_were(global int4* x, int n) { int i = get_global_id(0); x[i] = x[i]; }
        kernel void of_no_value(global int* x, global const int* y, int n) {
            int i = get_global_id(0); int value; if (i < n) value = y[i]; x[i] = value;
        }
        kernel void all_four(global Four* x, int n) {
            int i = get_global_id(0); Four old = x[i]; if (i < n) x[i].a = old.b + old.c;
        }
        kernel void vectors(global const int* x, global int* y, int n) {
            int i = get_global_id(0); int4 v = vload4(i, x); if (i < n) y[i] = v.x;
        }
        kernel void one_of_a_choice(global int* x, global int* y, int n) {
            int i = get_global_id(0); int a = x[i], b = y[i]; if (i < n) y[i] = i > 5 ? a : b;
        })",
                              {});
    ASSERT_TRUE(made) << made.error().log;
    EXPECT_FALSE(made->ptx.contains(".volatile"));
    const auto described = test::describe_kernels(made->ptx);
    EXPECT_EQ(described.size(), 14u);
    for (const auto& [name, kernel] : described) {
        if (name.starts_with("guarded"))
            EXPECT_EQ(kernel.verdict, Verdict::covering) << name;
        else
            EXPECT_NE(kernel.verdict, Verdict::covering) << name;
    }
    const std::string of_all = "kernel void k(global int* x, int n) { ";
    EXPECT_FALSE(compile(of_all + "int* p = x; p[get_global_id(0)] = n; }", {"-cl-std=CL3.0"}))
        << "generic pointers";
    EXPECT_FALSE(compile(of_all + "volatile global int* p = x; p[get_global_id(0)] = n; }", {}))
        << "volatile memory";
    EXPECT_FALSE(
        compile(of_all + R"(__asm volatile("st.volatile.global.u32 [%0], 1;" :: "l"(x + n)); })", {}))
        << "volatile by the PTX that it contains";
    const auto loading = [&](const std::string& qualifier) {
        return of_all + "int old; asm " + qualifier +
               R"(("ld.global.u32 %0, [%1];" : "=r"(old) : "l"(x)); x[1] = n; })";
    };
    EXPECT_FALSE(compile(loading(""), {})) << "nobody needs what it loads";
    EXPECT_TRUE(compile(loading("volatile"), {}));
}

// Arguments decide, too: what a guard turns away for one value it lets pass for another.
TEST_F(OpenClLegality, GuardsAreEvaluatedForTheArguments) {
    const auto may_grow = [&](const char* name, int n) {
        const auto limits = limits_of(kernels()[name], n);
        return limits && analysis::is_legal(*limits, {64, 1, 1});
    };
    EXPECT_TRUE(may_grow("guarded", 90));
    EXPECT_FALSE(may_grow("guarded", 97)) << "the 97th work-item would do something";
    EXPECT_TRUE(may_grow("guarded", -1));
    EXPECT_FALSE(may_grow("guarded_without_sign", -1)) << "-1 is more than any index there";
    EXPECT_TRUE(may_grow("guarded_one_late", 95));
}

TEST_F(OpenClLegality, EverySizeThatIsAllowedLeavesTheSameBytes) {
    const auto program = emulator::test::load(ptx());
    ASSERT_NE(program, nullptr);
    std::size_t compared = 0;
    for (const auto& [name, kernel] : kernels()) {
        if (kernel.verdict == Verdict::fixed || name == "fills_a_picture") continue;
        for (const int n : {96, 95, 97, 1, 0, -1, 60}) {
            // Beyond its own elements each kernel has some that it must leave alone.
            const auto run = [&](trimtab_dim3 grid, trimtab_dim3 block) {
                std::vector<int> x(2048, 5);
                HostMemory memory;
                const Parameters parameters(memory.add(x), n);
                emulator::test::run(*program, memory, name.c_str(), {.grid = grid, .block = block},
                                    parameters);
                return x;
            };
            const auto limits = limits_of(kernel, n);
            if (!limits) continue;
            // Some would touch memory that is not theirs as written: those are no programs.
            if (name == "guarded_without_sign" && n < 0) continue;
            const std::vector<int> written = run({items / 16, 1, 1}, {16, 1, 1});
            for (std::uint32_t size = 1; size <= 256; ++size) {
                if (!analysis::is_legal(*limits, {size, 1, 1})) continue;
                ++compared;
                ASSERT_EQ(run(analysis::covering_grid(*limits, {size, 1, 1}), {size, 1, 1}), written)
                    << name << " with n = " << n << " in work-groups of " << size;
            }
        }
    }
    EXPECT_GT(compared, 500u);
}

}  // namespace
}  // namespace trimtab::opencl
