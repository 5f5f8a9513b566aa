// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs made by clang, containers made by NVIDIA's fatbinary, and what ptxas says of the kernels in them.
#include <algorithm>
#include <cstring>
#include <random>
#include <regex>

#include "core/ptx/binary.h"
#include "fixtures.h"

namespace trimtab::ptx {
namespace {

const char* const source = R"(
    __global__ void __launch_bounds__(256) with_shared(float* out, int n) {
        __shared__ float tile[64];
        tile[threadIdx.x & 63] = out[n];
        __syncthreads();
        out[threadIdx.x] = tile[(threadIdx.x + 1) & 63];
    }
    __global__ void with_local(float* out, int n) {
        float a[64];
        for (int i = 0; i < 64; ++i) a[i] = out[i];
        for (int i = 0; i < n; ++i) a[(i * 7) & 63] += a[i & 63];
        out[threadIdx.x] = a[n & 63];
    }
    __device__ __noinline__ int leaf(int n, int* q) {
        volatile int a[16];
        for (int i = 0; i < 16; ++i) a[i] = q[n + i];
        return a[n & 15];
    }
    __global__ void with_call(int* out) {
        volatile int b[4];
        b[out[2] & 3] = out[3];
        out[0] = leaf(out[1], out) + b[1];
    }
    int main() { return 0; }
)";

std::span<const std::byte> bytes_of(const std::vector<std::byte>& bytes) {
    return bytes;
}
std::string_view text_of(const FatBinaryImage& image) {
    return {reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size()};
}

class Tools : public testing::Test {
  protected:
    void SetUp() override {
        if (cuda_tool("ptxas").empty() || cuda_tool("fatbinary").empty()) GTEST_SKIP() << "no CUDA tools";
        write_text(scratch.path("a.cu"), source);
    }
    std::string run(const std::string& command) {
        const CommandResult result = run_command(command);
        EXPECT_EQ(result.status, 0) << command << "\n" << result.output;
        return result.output;
    }
    std::string make_ptx(const std::string& arch) {
        const std::string out = scratch.path(arch + ".ptx");
        run(clang("-O2 --cuda-device-only -S --cuda-gpu-arch=" + arch + " -o " + out + " " +
                  scratch.path("a.cu")));
        return out;
    }

    TemporaryDirectory scratch;
};

TEST_F(Tools, AProgramOfClangHasItsImages) {
    const std::string object = scratch.path("a.o");
    run(clang("-O2 -c --cuda-include-ptx=all --cuda-gpu-arch=sm_75 --cuda-gpu-arch=sm_80 -o " + object + " " +
              scratch.path("a.cu")));
    EXPECT_TRUE(is_elf(object));
    const auto found = read_fat_binaries(object);
    ASSERT_TRUE(found) << found.error().text();
    ASSERT_EQ(found->size(), 1u);
    const std::vector<FatBinaryImage>& images = (*found)[0].images;
    ASSERT_EQ(images.size(), 4u);
    unsigned texts = 0;
    for (const FatBinaryImage& image : images) {
        EXPECT_EQ(image.architecture_name, "sm_" + std::to_string(image.architecture));
        if (image.kind == FatBinaryImage::Kind::cubin) {
            const auto kernels = read_cubin(image.bytes, "cubin");
            ASSERT_TRUE(kernels) << kernels.error().text();
            EXPECT_EQ(kernels->size(), 3u);
            continue;
        }
        ++texts;
        const auto module = parse(text_of(image), "embedded");
        ASSERT_TRUE(module) << module.error().text();
        EXPECT_EQ(module->target, image.architecture_name);
        EXPECT_EQ(module->kernels().size(), 3u);
    }
    EXPECT_EQ(texts, 2u);
    // The section as bytes is the same container, and hashes to the same.
    const auto section = read_elf_section(object, ".nv_fatbin");
    ASSERT_TRUE(section && *section);
    EXPECT_EQ(*fat_binary_hash((*section)->data()), (*found)[0].hash);
    EXPECT_EQ(read_fat_binary(**section, "section")->images.size(), 4u);
    EXPECT_FALSE(*read_elf_section(object, ".no_such_section"));
}

TEST_F(Tools, EveryCompressionGivesTheSameBytes) {
    const std::string ptx = make_ptx("sm_80"), cubin = scratch.path("a.cubin"),
                      out = scratch.path("a.fatbin");
    run(cuda_tool("ptxas") + " -arch=sm_80 -o " + cubin + " " + ptx);
    const Module original = parse_ok(read_text(ptx));
    const std::vector<std::byte> code = read_bytes(cubin);
    for (const auto& [mode, expected] :
         {std::pair("speed", "lz4"), {"size", "zstd"}, {"balance", "zstd"}, {"none", "none"}}) {
        SCOPED_TRACE(mode);
        run(cuda_tool("fatbinary") + " -64 --compress-all --compress-mode=" + mode + " --create=" + out +
            " --image3=kind=ptx,sm=80,file=" + ptx + " --image3=kind=elf,sm=80,file=" + cubin);
        const auto read = read_fat_binary(read_bytes(out), out);
        ASSERT_TRUE(read) << read.error().text();
        ASSERT_EQ(read->images.size(), 2u);
        EXPECT_EQ(read->images[0].kind, FatBinaryImage::Kind::ptx);
        for (const FatBinaryImage& image : read->images) EXPECT_EQ(image.compression, expected);
        // fatbinary leaves comments out.
        const Module packed = parse_ok(text_of(read->images[0]));
        for (const Function* kernel : original.kernels()) {
            ASSERT_NE(packed.function(kernel->name), nullptr);
            EXPECT_EQ(kernel_hash(packed, *packed.function(kernel->name)), kernel_hash(original, *kernel));
        }
        ASSERT_GE(read->images[1].bytes.size(), code.size());
        EXPECT_EQ(std::memcmp(read->images[1].bytes.data(), code.data(), code.size()), 0);
    }
}

TEST_F(Tools, ArchitecturesWithLettersKeepThem) {
    const std::string out = scratch.path("a.fatbin"), ptx = make_ptx("sm_90");
    std::string text = read_text(ptx);
    text.replace(text.find("sm_90"), 5, "sm_90a");
    write_text(ptx, text);
    run(cuda_tool("fatbinary") + " -64 --create=" + out + " --image3=kind=ptx,sm=90a,file=" + ptx);
    const auto read = read_fat_binary(read_bytes(out), out);
    ASSERT_TRUE(read) << read.error().text();
    EXPECT_EQ(read->images.at(0).architecture, 90u);
    EXPECT_EQ(read->images.at(0).architecture_name, "sm_90a");
}

TEST_F(Tools, ResourcesAreThoseThatPtxasReports) {
    for (const std::string_view arch : {"sm_75", "sm_86", "sm_90", "sm_100"}) {
        SCOPED_TRACE(arch);
        const std::string ptx = make_ptx("sm_75"), cubin = scratch.path("a.cubin");
        const std::string said =
            run(cuda_tool("ptxas") + " -v -arch=" + std::string(arch) + " -o " + cubin + " " + ptx);
        const auto kernels = read_cubin(read_bytes(cubin), cubin);
        ASSERT_TRUE(kernels) << kernels.error().text();
        const std::regex entry("entry function '([^']+)'[^]*?Used (\\d+) registers([^\\n]*)");
        unsigned compared = 0;
        for (std::sregex_iterator at(said.begin(), said.end(), entry), end; at != end; ++at, ++compared) {
            const std::string name = (*at)[1], rest = (*at)[3];
            SCOPED_TRACE(name);
            ASSERT_TRUE(kernels->contains(name));
            const KernelResources& read = kernels->at(name);
            EXPECT_EQ(std::to_string(read.registers_per_thread), (*at)[2].str());
            std::smatch number;
            const bool has_shared = std::regex_search(rest, number, std::regex("(\\d+) bytes smem"));
            EXPECT_EQ(std::to_string(read.static_shared_bytes), has_shared ? number[1].str() : "0");
            const bool has_stack =
                std::regex_search(rest, number, std::regex("(\\d+) bytes cumulative stack"));
            EXPECT_EQ(std::to_string(read.local_bytes_per_thread), has_stack ? number[1].str() : "0");
            EXPECT_GT(read.code_bytes, 0u);
        }
        EXPECT_EQ(compared, 3u);
        EXPECT_EQ(kernels->at("_Z11with_sharedPfi").max_threads_per_block, 256u);
        EXPECT_EQ(kernels->at("_Z10with_localPfi").max_threads_per_block, 0u);
    }
}

TEST_F(Tools, DamagedFilesAreErrorsOrAnswers) {
    const std::string object = scratch.path("a.o"), damaged = scratch.path("b.o");
    run(clang("-O2 -c --cuda-include-ptx=all --cuda-gpu-arch=sm_75 -o " + object + " " +
              scratch.path("a.cu")));
    const std::vector<std::byte> whole = read_bytes(object);
    const auto fat = read_elf_section(object, ".nv_fatbin");
    ASSERT_TRUE(fat && *fat);
    const std::vector<std::byte> container = **fat;
    const auto images = read_fat_binary(container, "c")->images;
    const auto cubin = std::find_if(images.begin(), images.end(), [](const auto& image) {
        return image.kind == FatBinaryImage::Kind::cubin;
    });
    std::mt19937 random(3);  // NOLINT(bugprone-random-generator-seed): the same cases each time
    const auto pick = [&](std::size_t count) {
        return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
    };
    const auto mutate = [&](std::vector<std::byte> bytes) {
        // The first bytes hold the headers: half of the damage goes there.
        for (std::size_t n = 1 + pick(3); n > 0; --n) {
            bytes[pick(pick(2) == 0 ? std::min<std::size_t>(bytes.size(), 160) : bytes.size())] =
                std::byte(pick(256));
        }
        if (pick(4) == 0) bytes.resize(1 + pick(bytes.size()));
        return bytes;
    };
    const auto expect_named = [](const auto& result) {
        EXPECT_TRUE(result || (!result.error().file.empty() && !result.error().message.empty()));
    };
    for (unsigned round = 0; round < 1500; ++round) {
        expect_named(read_fat_binary(mutate(container), "c"));
        expect_named(read_cubin(mutate(cubin->bytes), "c"));
        if (round % 10 != 0) continue;
        const std::vector<std::byte> bytes = mutate(whole);
        write_text(damaged, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        expect_named(read_fat_binaries(damaged));
        expect_named(read_elf_section(damaged, ".text"));
    }
    for (std::size_t length = 1; length < container.size(); length += 7) {
        EXPECT_FALSE(read_fat_binary(bytes_of(container).first(length), "cut")) << length;
    }
}

TEST(FatBinary, SaysWhatIsWrongWithAFile) {
    const auto text = [](const auto& result) { return result ? "" : result.error().text(); };
    EXPECT_EQ(text(read_fat_binaries("/nonexistent/file")), "/nonexistent/file: the file cannot be opened");
    EXPECT_EQ(text(read_fat_binaries(data_path("features.cu"))),
              data_path("features.cu") + ": this is no ELF file");
    EXPECT_FALSE(is_elf(data_path("features.cu")));
    EXPECT_FALSE(is_elf("/nonexistent/file"));
    EXPECT_FALSE(read_fat_binaries(std::string(TRIMTAB_SOURCE_DIR)));  // a directory
    const std::vector<std::byte> nonsense(64, std::byte{7});
    EXPECT_EQ(text(read_fat_binary(nonsense, "x.fatbin")), "x.fatbin: there is no fat binary at byte 0");
    EXPECT_EQ(text(read_fat_binary({}, "x.fatbin")), "x.fatbin: there is no fat binary at byte 0");
    EXPECT_FALSE(fat_binary_hash(nonsense.data()));
    EXPECT_FALSE(fat_binary_hash(nullptr));
    // This very program is an ELF file, without device code and no cubin.
    const auto own = read_fat_binaries("/proc/self/exe");
    ASSERT_TRUE(own) << own.error().text();
    EXPECT_TRUE(own->empty());
    EXPECT_EQ(text(read_cubin(read_bytes("/proc/self/exe"), "self")), "self: this ELF file is no cubin");
}

TEST(FatBinary, SeveralContainersAreOneOrEachItsOwn) {
    // One uncompressed PTX image: a header of 16 bytes, an entry of 64, a payload of 16.
    const auto container = [](char letter) {
        std::vector<std::byte> out(96);
        const auto put = [&](std::size_t at, std::uint64_t value, std::size_t size) {
            std::memcpy(&out[at], &value, size);
        };
        put(0, 0xba55ed50, 4);
        put(4, 1, 2);
        put(6, 16, 2);
        put(8, 80, 8);
        put(16, 1, 2);
        put(20, 64, 4);
        put(24, 16, 8);
        put(44, 75, 4);
        out[80] = std::byte(letter);
        return out;
    };
    std::vector<std::byte> both = container('a');
    const std::string first_hash = read_fat_binary(both, "one")->hash;
    both.resize(both.size() + 8);  // padding
    const std::vector<std::byte> second = container('b');
    both.insert(both.end(), second.begin(), second.end());
    const auto read = read_fat_binary(both, "two");
    ASSERT_TRUE(read) << read.error().text();
    ASSERT_EQ(read->images.size(), 2u);
    EXPECT_EQ(text_of(read->images[0]), "a");
    EXPECT_EQ(text_of(read->images[1]), "b");
    EXPECT_EQ(read->hash, first_hash);
    EXPECT_EQ(*fat_binary_hash(both.data()), first_hash);
    EXPECT_NE(*fat_binary_hash(second.data()), first_hash);
    both[97] = std::byte{1};
    EXPECT_EQ(read_fat_binary(both, "two").error().text(), "two: there is no fat binary at byte 97");
}

}  // namespace
}  // namespace trimtab::ptx
