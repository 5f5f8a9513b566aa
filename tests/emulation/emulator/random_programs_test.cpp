// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels leave the same words on the emulator as their C++ twins on the host.
//
// TRIMTAB_RANDOM_PROGRAMS=N runs N of them instead of a hundred, from TRIMTAB_RANDOM_SEED on; they are so
// short that they are interpreted unless TRIMTAB_EMULATOR=compiled. A batch that differs is kept in a folder
// that the failure names.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "tests/emulation/emulator/fixture.h"
#include "tests/emulation/emulator/random_program.h"

namespace trimtab::emulator::test {
namespace {

namespace fs = std::filesystem;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr unsigned batch_size = 50;

u64 from_environment(const char* name, u64 otherwise) {
    const char* const value = std::getenv(name);
    return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

class Folder {
  public:
    Folder() : path_((fs::temp_directory_path() / "trimtab-random-XXXXXX").string()) {
        if (mkdtemp(path_.data()) == nullptr) path_.clear();
    }
    ~Folder() {
        std::error_code ignored;
        if (!path_.empty() && !kept_) fs::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] fs::path operator/(const char* name) const { return fs::path(path_) / name; }
    [[nodiscard]] const std::string& path() const { return path_; }
    void keep() { kept_ = true; }

  private:
    std::string path_;
    bool kept_ = false;
};

bool compile(const Folder& folder, const std::string& arguments) {
    const std::string command = fmt::format("cd '{}' && {} {} -w -std=c++20 -fwrapv -ffp-contract=off 2> log",
                                            folder.path(), TRIMTAB_CLANG, arguments);
    if (std::system(command.c_str()) == 0) return true;
    std::stringstream log;
    log << std::ifstream(folder / "log").rdbuf();
    ADD_FAILURE() << command << '\n' << log.str().substr(0, 2000);
    return false;
}

std::vector<u32> input(u64 seed) {
    std::mt19937 random(static_cast<u32>(seed));
    std::vector<u32> words(random_input_words);
    for (u32& word : words) word = random() >> (random() % 4 * 8);
    return words;
}

void run_batch(u64 first_seed, int optimisation) {
    Folder folder;
    ASSERT_FALSE(folder.path().empty());
    std::vector<RandomProgram> programs;
    std::ofstream device(folder / "device.cu"), host(folder / "host.cpp");
    device << "#define DEVICE\n" << random_prelude;
    host << "#include <vector>\n" << random_prelude;
    for (unsigned i = 0; i < batch_size; i++) {
        programs.push_back(random_program(first_seed + i, fmt::format("k{}", i)));
        device << programs.back().common << programs.back().device;
        host << programs.back().common << programs.back().host;
    }
    device.close();
    host.close();
    ASSERT_TRUE(
        compile(folder, fmt::format("-x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib "
                                    "-Wno-unknown-cuda-version -S -O{} device.cu -o device.ptx",
                                    optimisation)));
    ASSERT_TRUE(compile(folder, "-O0 -fPIC -shared host.cpp -o host.so"));
    void* const library = dlopen((folder / "host.so").c_str(), RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
    std::stringstream ptx;
    ptx << std::ifstream(folder / "device.ptx").rdbuf();
    const auto program = load(ptx.str());
    ASSERT_NE(program, nullptr);
    bool same = true;
    for (unsigned i = 0; i < batch_size && same; i++) {
        const RandomProgram& one = programs[i];
        auto in = input(first_seed + i);
        std::vector<u32> expected(std::size_t{one.blocks} * one.threads * random_words_a_thread),
            out = expected;
        const std::string name = fmt::format("k{}", i);
        auto* const reference =
            reinterpret_cast<void (*)(const u32*, u32*, u32, u32)>(dlsym(library, ("host_" + name).c_str()));
        ASSERT_NE(reference, nullptr);
        reference(in.data(), expected.data(), one.blocks, one.threads);
        HostMemory memory;
        const Parameters parameters(memory.add(in), memory.add(out));
        LaunchRequest request;
        request.kernel = name;
        request.grid = {one.blocks, 1, 1};
        request.block = {one.threads, 1, 1};
        request.parameters = parameters.bytes();
        request.instruction_limit = 100'000'000;
        request.threads = 1;
        const auto result = launch(*program, memory, request);
        EXPECT_TRUE(result) << result.error().message;
        same = result && out == expected;
        std::size_t at = 0;
        while (at + 1 < out.size() && out[at] == expected[at]) at++;
        EXPECT_TRUE(same) << fmt::format(
            "seed {}, -O{}: {} of {}/device.cu differs first at word {}: {:#x}, not {:#x}", first_seed + i,
            optimisation, name, folder.path(), at, out[at], expected[at]);
    }
    dlclose(library);
    if (!same) folder.keep();
}

TEST(RandomPrograms, LeaveWhatTheirTwinsLeave) {
    const u64 count = from_environment("TRIMTAB_RANDOM_PROGRAMS", 100),
              seed = from_environment("TRIMTAB_RANDOM_SEED", 1);
    for (u64 done = 0; done < count; done += batch_size) {
        run_batch(seed + done, static_cast<int>(((seed + done) / batch_size) % 4));
        if (HasFatalFailure()) return;
        if (count >= 1000 && (done + batch_size) % 500 == 0)
            fmt::print("{} programs\n", done + batch_size), std::fflush(stdout);
    }
}

}  // namespace
}  // namespace trimtab::emulator::test
