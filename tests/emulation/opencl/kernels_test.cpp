// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of OpenCL programs: what is proved of them, and that what the proof allows changes no byte.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <map>

#include "tests/emulation/emulator/fixture.h"
#include "tests/emulation/opencl/compiled_kernels.h"

namespace trimtab::opencl {
namespace {

using analysis::Verdict;
using emulator::test::HostMemory;
using emulator::test::Parameters;
using Array = std::vector<float>;
using Arrays = std::vector<Array>;

constexpr int n = 37;
constexpr float alpha = 0.75f, beta = 1.25f;

// a[i][j] of an n x n matrix.
float& at(Array& a, int i, int j) {
    return a[static_cast<std::size_t>(i * n + j)];
}

struct Case {
    const char* kernel;
    int dimensions;
    std::function<Parameters(Arrays&, HostMemory&)> parameters;
    std::function<void(Arrays&)> reference;  // in double precision where sums are long
};

Array matrix(int seed) {
    Array out(static_cast<std::size_t>(n) * n);
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(seed) * 13) % 31) / 16 - 0.8f;
    return out;
}

double dot(const std::function<double(int)>& term) {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += term(k);
    return sum;
}

void each(int dimensions, const std::function<void(int, int)>& use) {
    for (int i = 0; i < (dimensions == 2 ? n : 1); ++i)
        for (int j = 0; j < n; ++j) use(i, j);
}

// Every kernel has its arrays first, in order, each of n x n.
template <class... Scalars>
auto with(std::size_t arrays, Scalars... scalars) {
    return [=](Arrays& a, HostMemory& memory) {
        return arrays == 2   ? Parameters(memory.add(a[0]), memory.add(a[1]), scalars...)
               : arrays == 3 ? Parameters(memory.add(a[0]), memory.add(a[1]), memory.add(a[2]), scalars...)
                             : Parameters(memory.add(a[0]), memory.add(a[1]), memory.add(a[2]),
                                          memory.add(a[3]), scalars...);
    };
}

const std::vector<Case>& cases() {
    static const std::vector<Case> all{
        {"gemm", 2, with(3, alpha, beta, n),
         [](Arrays& a) {
             each(2, [&](int i, int j) {
                 at(a[2], i, j) =
                     static_cast<float>(beta * at(a[2], i, j) +
                                        alpha * dot([&](int k) { return at(a[0], i, k) * at(a[1], k, j); }));
             });
         }},
        {"product", 2, with(3, static_cast<std::uint32_t>(n)),
         [](Arrays& a) {
             each(2, [&](int i, int j) {
                 at(a[2], i, j) =
                     static_cast<float>(dot([&](int k) { return at(a[0], i, k) * at(a[1], k, j); }));
             });
         }},
        {"mvt_rows", 1, with(3, n),
         [](Arrays& a) {
             each(1, [&](int, int i) {
                 at(a[1], 0, i) +=
                     static_cast<float>(dot([&](int j) { return at(a[0], i, j) * at(a[2], 0, j); }));
             });
         }},
        {"mvt_columns", 1, with(3, n),
         [](Arrays& a) {
             each(1, [&](int, int i) {
                 at(a[1], 0, i) +=
                     static_cast<float>(dot([&](int j) { return at(a[0], j, i) * at(a[2], 0, j); }));
             });
         }},
        {"gesummv", 1, with(4, alpha, beta, n),
         [](Arrays& a) {
             each(1, [&](int, int i) {
                 at(a[3], 0, i) = static_cast<float>(dot([&](int j) {
                     return (alpha * at(a[0], i, j) + beta * at(a[1], i, j)) * at(a[2], 0, j);
                 }));
             });
         }},
        {"syrk", 2, with(2, alpha, beta, n),
         [](Arrays& a) {
             each(2, [&](int i, int j) {
                 at(a[1], i, j) =
                     static_cast<float>(beta * at(a[1], i, j) +
                                        alpha * dot([&](int k) { return at(a[0], i, k) * at(a[0], j, k); }));
             });
         }},
        {"convolution", 2, with(2, n),
         [](Arrays& a) {
             each(2, [&](int i, int j) {
                 if (i == 0 || j == 0 || i == n - 1 || j == n - 1) return;
                 Array& in = a[0];
                 at(a[1], i, j) = 0.2f * at(in, i - 1, j - 1) - 0.3f * at(in, i, j) +
                                  0.4f * at(in, i + 1, j + 1) + 0.5f * at(in, i - 1, j) -
                                  0.6f * at(in, i, j + 1);
             });
         }},
        {"jacobi", 2, with(2, n),
         [](Arrays& a) {
             each(2, [&](int i, int j) {
                 if (i == 0 || j == 0 || i == n - 1 || j == n - 1) return;
                 Array& in = a[0];
                 at(a[1], i, j) = 0.2f * (at(in, i, j) + at(in, i, j - 1) + at(in, i, j + 1) +
                                          at(in, i + 1, j) + at(in, i - 1, j));
             });
         }},
        {"fdtd_ey", 2, with(3, 5, n),
         [](Arrays& a) {
             each(2, [&](int i, int j) {
                 at(a[1], i, j) =
                     i == 0 ? at(a[0], 0, 5) : at(a[1], i, j) - 0.5f * (at(a[2], i, j) - at(a[2], i - 1, j));
             });
         }},
        {"column_means", 1, with(2, static_cast<float>(n), n),
         [](Arrays& a) {
             each(1, [&](int, int j) {
                 at(a[1], 0, j) = static_cast<float>(dot([&](int i) { return at(a[0], i, j); }) / n);
             });
         }},
        {"center", 2, with(2, n),
         [](Arrays& a) { each(2, [&](int i, int j) { at(a[0], i, j) -= at(a[1], 0, j); }); }},
        {"project", 1, with(3, 4, n),
         [](Arrays& a) {
             each(1, [&](int, int j) {
                 if (j <= 4) return;
                 const double r = dot([&](int i) { return at(a[1], i, 4) * at(a[0], i, j); });
                 at(a[2], 4, j) = static_cast<float>(r);
                 for (int i = 0; i < n; ++i) at(a[0], i, j) -= static_cast<float>(at(a[1], i, 4) * r);
             });
         }},
    };
    return all;
}

class OpenClKernels : public testing::Test {
  protected:
    static void SetUpTestSuite() { ptx() = test::ptx_of("polybench.cl"); }
    static std::string& ptx() {
        static std::string text;
        return text;
    }
};

TEST_F(OpenClKernels, AreProvedLikeCudas) {
    std::map<std::string, Verdict> expected{
        {"unguarded", Verdict::dividing},    {"reads_the_total", Verdict::dividing},
        {"shares_memory", Verdict::fixed},   {"reads_its_place", Verdict::fixed},
        {"reads_its_group", Verdict::fixed}, {"reads_the_group_size", Verdict::fixed},
        {"takes_tickets", Verdict::fixed},   {"prints", Verdict::fixed},
        {"of_a_warp", Verdict::fixed}};
    for (const Case& one : cases()) expected[one.kernel] = Verdict::covering;
    const auto described = test::describe_kernels(ptx());
    EXPECT_EQ(described.size(), expected.size());
    for (const auto& [name, kernel] : described) {
        ASSERT_TRUE(expected.contains(name)) << name;
        EXPECT_EQ(analysis::name(kernel.verdict), analysis::name(expected[name])) << name;
    }
    // Names are those of the source, which reports and the log tell.
    std::vector<std::string> names;
    for (const analysis::KernelParameter& parameter : described.at("gemm").parameters)
        names.push_back(parameter.name);
    EXPECT_THAT(names, testing::ElementsAre("a", "b", "c", "alpha", "beta", "n"));
    EXPECT_THAT(described.at("gemm").data,
                testing::Contains(testing::Field(&analysis::DataParameter::name, "n")));
}

TEST_F(OpenClKernels, ComputeTheSameInOtherWorkGroups) {
    const auto program = emulator::test::load(ptx());
    ASSERT_NE(program, nullptr);
    const auto whole = [](unsigned size) { return (n + size - 1) / size; };
    for (const Case& one : cases()) {
        Arrays expected;
        for (int i = 0; i < 4; ++i) expected.push_back(matrix(i));
        one.reference(expected);
        Arrays first;
        // As written; then sizes that do not divide that global size, so that it grows.
        for (const trimtab_dim3 block :
             {trimtab_dim3{8, 8, 1}, trimtab_dim3{13, 3, 1}, trimtab_dim3{32, 5, 1}}) {
            const unsigned rows = one.dimensions == 2 ? block.y : 1;
            Arrays arrays;
            for (int i = 0; i < 4; ++i) arrays.push_back(matrix(i));
            HostMemory memory;
            const Parameters parameters = one.parameters(arrays, memory);
            emulator::test::run(*program, memory, one.kernel,
                                {.grid = {whole(block.x), one.dimensions == 2 ? whole(rows) : 1, 1},
                                 .block = {block.x, rows, 1}},
                                parameters);
            for (std::size_t a = 0; a < arrays.size(); ++a)
                for (std::size_t i = 0; i < arrays[a].size(); ++i)
                    ASSERT_NEAR(arrays[a][i], expected[a][i], 2e-5 * std::max(1.0f, std::abs(expected[a][i])))
                        << one.kernel << ", array " << a << ", element " << i;
            if (first.empty()) first = arrays;
            EXPECT_EQ(arrays, first) << one.kernel << " in work-groups of " << block.x << " x " << rows;
        }
    }
}

}  // namespace
}  // namespace trimtab::opencl
