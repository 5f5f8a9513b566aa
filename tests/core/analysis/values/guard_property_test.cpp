// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random guards, compiled: whatever legal_blocks() lets a launch cover must be right when the same condition,
// compiled for the host, is asked about every thread that the new grid adds.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "core/analysis/describe.h"
#include "core/analysis/launches/legal_blocks.h"
#include "tests/core/analysis/cuda_compiler.h"

namespace trimtab::analysis::test {
namespace {

constexpr unsigned kernel_count = 250, seed = 4711;
constexpr unsigned launches_a_kernel = 60;

// C++ conditions over indices x, y, z and arguments a (int), b (unsigned), c (long long).
class RandomConditions {
  public:
    explicit RandomConditions(unsigned seed) : random_(seed) {}

    std::string condition(unsigned depth) {
        if (depth > 0 && pick(3) != 0)
            return "(" + condition(depth - 1) + (pick(4) == 0 ? " || " : " && ") + condition(depth - 1) + ")";
        if (pick(3) == 0) return "(" + index() + " < " + bound() + ")";
        const char* const comparisons[] = {"<", "<", "<", "<=", ">", ">=", "==", "!="};
        return "(" + value(2) + " " + comparisons[pick(8)] + " " + (pick(2) == 0 ? bound() : value(1)) + ")";
    }
    // What a kernel does before it works: nested tests, early returns.
    std::string test(unsigned index) {
        switch (pick(3)) {
            case 0:
                return "if (!" + condition(1) + ") return false; return " + condition(1) + ";";
            case 1:
                return "if (" + condition(1) + ") { if (" + condition(1) + ") return true; } return false;";
            default:
                return "return " + condition(1 + index % 3) + ";";
        }
    }
    unsigned pick(unsigned below) { return static_cast<unsigned>(random_() % below); }

  private:
    std::string index() {
        const char* const indices[] = {
            "x", "x", "y", "z", "(int)x", "(int)y", "(long long)x", "(unsigned long long)y"};
        return indices[pick(8)];
    }
    std::string bound() {
        const char* const bounds[] = {"a", "b", "c", "(a - 1)", "(b - 1)", "(c + 3)", "a * 2"};
        return bounds[pick(7)];
    }
    std::string value(unsigned depth) {
        if (depth == 0 || pick(3) == 0) return pick(3) == 0 ? bound() : index();
        const std::string left = value(depth - 1);
        switch (pick(12)) {
            case 0:
                return "(" + left + " + " + value(depth - 1) + ")";
            case 1:
                return "(" + left + " - 1)";
            case 2:
                return "(" + left + " * " + std::to_string(1 + pick(5)) + ")";
            case 3:
                return "(y * a + x)";
            case 4:
                return "(" + left + " / " + std::to_string(1 + pick(9)) + ")";
            case 5:
                return "(unsigned char)" + left;
            case 6:
                return "(short)" + left;
            case 7:
                return "(" + left + " < a ? " + left + " : 0)";
            case 8:
                return "(" + left + " % " + std::to_string(2 + pick(200)) + ")";
            case 9:
                return "(" + left + " >> " + std::to_string(pick(4)) + ")";
            case 10:
                return "(" + left + " & " + std::to_string(random_() % 1024) + ")";
            default:
                return "(" + left + " + " + std::to_string(pick(40)) + ")";
        }
    }

    std::mt19937_64 random_;
};

constexpr char parameters[] = "(unsigned x, unsigned y, unsigned z, int a, unsigned b, long long c)";
using Condition = bool (*)(unsigned, unsigned, unsigned, int, unsigned, long long);

struct Launch {
    trimtab_dim3 grid, block;
    int a = 0;
    unsigned b = 0;
    long long c = 0;
};

class GuardProperty : public testing::TestWithParam<const char*> {
  protected:
    void SetUp() override {
        std::string device, host;
        RandomConditions random(seed);
        for (unsigned k = 0; k < kernel_count; k++) {
            const std::string body = std::string(parameters) + " { " + random.test(k) + " }\n";
            const std::string number = std::to_string(k);
            sources.push_back(body);
            host += "extern \"C\" bool passes" + number + body;
            device += "__device__ __forceinline__ bool passes" + number + body + "__global__ void k" +
                      number +
                      "(int* o, int a, unsigned b, long long c) {\n"
                      "    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;\n"
                      "    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;\n"
                      "    unsigned z = blockIdx.z * blockDim.z + threadIdx.z;\n"
                      "    if (passes" +
                      number + "(x, y, z, a, b, c)) o[x + 1000 * y + 1000000 * z] = 1;\n}\n";
        }
        kernels = describe_ptx(compile_cuda(device, std::string("-fwrapv ") + GetParam()));
        const std::string path = compile_host_library(host);
        library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(library, nullptr) << ::dlerror();
    }
    void TearDown() override {
        if (library != nullptr) ::dlclose(library);
    }

    Condition condition(unsigned k) const {
        return reinterpret_cast<Condition>(::dlsym(library, ("passes" + std::to_string(k)).c_str()));
    }

    std::vector<std::string> sources;
    std::vector<KernelDescription> kernels;
    void* library = nullptr;
};
INSTANTIATE_TEST_SUITE_P(Clang, GuardProperty, testing::Values("-O1", "-O3"),
                         [](const auto& info) { return std::string(info.param + 1); });

std::vector<std::byte> argument_bytes(const KernelDescription& kernel, const Launch& launch) {
    std::vector<std::byte> bytes(kernel.parameters.back().offset + kernel.parameters.back().size);
    std::memcpy(bytes.data() + kernel.parameters[1].offset, &launch.a, sizeof launch.a);
    std::memcpy(bytes.data() + kernel.parameters[2].offset, &launch.b, sizeof launch.b);
    std::memcpy(bytes.data() + kernel.parameters[3].offset, &launch.c, sizeof launch.c);
    return bytes;
}

trimtab_device small_device() {
    trimtab_device device{};
    device.max_threads_per_block = 64;
    device.max_block_x = device.max_block_y = 64;
    device.max_block_z = 16;
    device.max_grid_x = device.max_grid_y = device.max_grid_z = 65535;
    device.warp_size = 32;
    return device;
}

TEST_P(GuardProperty, CoveredTailsNeverWork) {
    RandomConditions random(99);
    unsigned covering = 0, allowed_dimensions = 0, tested = 0;
    for (unsigned k = 0; k < kernel_count; k++) {
        const KernelDescription& kernel = kernel_named(kernels, "k" + std::to_string(k));
        const Condition passes = condition(k);
        ASSERT_NE(passes, nullptr);
        if (kernel.verdict == Verdict::fixed) continue;
        covering += kernel.verdict == Verdict::covering ? 1 : 0;
        for (unsigned l = 0; l < launches_a_kernel; l++) {
            Launch launch;
            launch.block = {1 + random.pick(8), 1 + random.pick(4), 1 + random.pick(2)};
            launch.grid = {1 + random.pick(8), 1 + random.pick(4), 1 + random.pick(2)};
            if (!kernel.reads(0)) launch.block.x = launch.grid.x = 1;  // a condition that is never true
            if (!kernel.reads(1)) launch.block.y = launch.grid.y = 1;
            if (!kernel.reads(2)) launch.block.z = launch.grid.z = 1;
            const unsigned extent[] = {launch.grid.x * launch.block.x, launch.grid.y * launch.block.y,
                                       launch.grid.z * launch.block.z};
            // Bounds that lie near an extent, and a few that lie nowhere near.
            const auto bound = [&] {
                if (random.pick(8) == 0) return static_cast<long long>(random.pick(3)) - 1;
                if (random.pick(12) == 0) return -9223372036854775807ll - 1;
                return static_cast<long long>(extent[random.pick(3)]) -
                       static_cast<long long>(random.pick(4)) + 1;
            };
            launch.a = static_cast<int>(bound());
            launch.b = static_cast<unsigned>(bound());
            launch.c = bound();
            const auto limits = legal_blocks(kernel, argument_bytes(kernel, launch), launch.grid,
                                             launch.block, small_device(), trimtab_image{});
            ASSERT_TRUE(limits.has_value()) << limits.error();
            // The largest grid that any legal block makes, in each dimension.
            unsigned end[3];
            for (unsigned d = 0; d < 3; d++) {
                const unsigned largest = d == 0   ? limits->max_block.x
                                         : d == 1 ? limits->max_block.y
                                                  : limits->max_block.z;
                const bool covers = (limits->dividing >> d & 1) == 0 && kernel.reads(d);
                end[d] = covers ? extent[d] + largest - 1 : extent[d];
                allowed_dimensions += covers ? 1 : 0;
            }
            for (unsigned z = 0; z < end[2]; z++) {
                for (unsigned y = 0; y < end[1]; y++) {
                    for (unsigned x = 0; x < end[0]; x++) {
                        if (x < extent[0] && y < extent[1] && z < extent[2]) continue;
                        tested++;
                        ASSERT_FALSE(passes(x, y, z, launch.a, launch.b, launch.c))
                            << "thread " << x << ", " << y << ", " << z << " of extent " << extent[0] << ", "
                            << extent[1] << ", " << extent[2] << " works, with a = " << launch.a
                            << ", b = " << launch.b << ", c = " << launch.c << " in " << sources[k];
                    }
                }
            }
        }
    }
    // The claim is worth something only where much is allowed.
    EXPECT_GE(covering, 10u);
    EXPECT_GT(allowed_dimensions, 5000u);
    EXPECT_GT(tested, 100000u);
    RecordProperty("covering_kernels", static_cast<int>(covering));
    RecordProperty("allowed_dimensions", static_cast<int>(allowed_dimensions));
}

}  // namespace
}  // namespace trimtab::analysis::test
