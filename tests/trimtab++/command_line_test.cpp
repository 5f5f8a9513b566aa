// What trimtab++ makes of a command line, against what clang's driver documents.
#include "tools/trimtab++/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "tools/trimtab++/jobs.h"

namespace trimtab::wrapper {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::expected<CommandLine, Error> read(std::vector<std::string> words) {
    words.insert(words.begin(), "trimtab++");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    return read_command_line(static_cast<int>(words.size()), argv.data());
}

const Toolchain tools{.clangxx = "clang++",
                      .clang = "clang",
                      .linker = "ld",
                      .plugin = "/p/libtrimtab_pass.so",
                      .runtime_dir = "/p",
                      .cuda = "/cuda"};

std::size_t position(const Command& command, const std::string& word) {
    return static_cast<std::size_t>(std::ranges::find(command, word) - command.begin());
}

TEST(CommandLine, KnowsCudaByNameAndByLanguage) {
    auto line = read({"a.cu", "b.cpp", "-x", "cuda", "c.cpp", "-x", "none", "d.o"});
    ASSERT_TRUE(line);
    std::vector<std::string> cuda;
    for (const Argument& argument : line->arguments)
        if (argument.is_cuda) cuda.push_back(argument.tokens.front());
    EXPECT_THAT(cuda, testing::ElementsAre("a.cu", "c.cpp"));
    EXPECT_EQ(line->mode, Mode::link);
}

TEST(CommandLine, FindsTheLastPhase) {
    EXPECT_EQ(read({"-c", "a.cu"})->mode, Mode::object);
    EXPECT_EQ(read({"-c", "-S", "a.cu"})->mode, Mode::other);
    EXPECT_EQ(read({"-E", "a.cu"})->mode, Mode::other);
    EXPECT_EQ(read({"-fsyntax-only", "a.cu"})->mode, Mode::other);
    EXPECT_EQ(read({"-v"})->mode, Mode::information);
    EXPECT_EQ(read({"-v", "a.cu"})->mode, Mode::link);
    EXPECT_EQ(read({"--version"})->mode, Mode::information);
    EXPECT_EQ(read({"-print-search-dirs"})->mode, Mode::information);
    EXPECT_EQ(read({"-###", "a.cu"})->mode, Mode::information);
}

TEST(CommandLine, ExpandsResponseFiles) {
    const std::string path = testing::TempDir() + "arguments.rsp";
    std::ofstream(path) << "-O3 \"a b.cu\"\n-o out";
    auto line = read({"@" + path, "-c"});
    ASSERT_TRUE(line) << line.error().text();
    EXPECT_EQ(line->output, "out");
    ASSERT_TRUE(line->compiles_cuda());
    EXPECT_EQ(line->mode, Mode::object);
}

TEST(CommandLine, ItsOwnOptionsInAResponseFileDoNotReachClang) {
    const std::string path = testing::TempDir() + "own.rsp";
    std::ofstream(path) << "--trimtab-quiet -O1";
    std::string at = "@" + path;
    std::string source = "a.cpp";
    std::string self = "trimtab++";
    std::array<char*, 3> argv = {self.data(), at.data(), source.data()};
    auto line = read_command_line(3, argv.data());
    ASSERT_TRUE(line);
    EXPECT_TRUE(line->quiet);
    EXPECT_THAT(without_own_options(*line, 3, argv.data()),
                testing::ElementsAre("trimtab++", "-O1", "a.cpp"));
}

TEST(CommandLine, TakesItsOwnOptionsOut) {
    auto line = read({"--trimtab-sizes=32:128", "--trimtab-profile=off", "--trimtab-keep=/tmp/k",
                      "--trimtab-quiet", "a.cu"});
    ASSERT_TRUE(line);
    EXPECT_EQ(line->smallest_size, 32U);
    EXPECT_EQ(line->largest_size, 128U);
    EXPECT_EQ(line->profile, "off");
    EXPECT_EQ(line->keep, "/tmp/k");
    EXPECT_TRUE(line->quiet);
    EXPECT_EQ(line->arguments.size(), 1U);
}

TEST(CommandLine, RefusesBadOptionsInOneLine) {
    for (const char* bad :
         {"--trimtab-sizes=64", "--trimtab-sizes=256:64", "--trimtab-sizes=a:b", "--trimtab-sizes=1:4",
          "--trimtab-keep=", "--trimtab-profile=", "--trimtab-nothing"}) {
        auto line = read({bad, "a.cu"});
        ASSERT_FALSE(line) << bad;
        EXPECT_EQ(line.error().text().find('\n'), std::string::npos);
        EXPECT_THAT(line.error().text(), HasSubstr("--trimtab-"));
    }
    auto missing = read({"a.cu", "-o"});
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().text(), HasSubstr("-o"));
}

TEST(Jobs, CompileKeepsTheUsersOptionsAndLeavesOtherInputsOut) {
    auto line = read({"-O3", "-DX=1", "-I", "inc", "a.cu", "b.cu", "-lm", "-Wl,-z,now", "-o", "prog"});
    const Command command = compile_command(*line, tools, 3, "a.o");
    EXPECT_THAT(command, Contains("b.cu").Times(0));
    EXPECT_THAT(command, Contains("a.cu"));
    EXPECT_THAT(command, Contains("-DX=1"));
    EXPECT_THAT(command, Not(Contains("-lm")));
    EXPECT_THAT(command, Not(Contains("prog")));
    EXPECT_THAT(command, Contains("--cuda-gpu-arch=sm_75"));
    EXPECT_THAT(command, Contains("-fpass-plugin=/p/libtrimtab_pass.so"));
    EXPECT_EQ(command.back(), "a.o");
}

TEST(Jobs, TheUsersArchitecturesAndToolkitStand) {
    auto line =
        read({"--offload-arch=sm_80", "--cuda-gpu-arch=sm_90", "--cuda-path=/mine", "-g", "-c", "a.cu"});
    const Command command = compile_command(*line, tools, 5, "a.o");
    EXPECT_THAT(command, Not(Contains("--cuda-gpu-arch=sm_75")));
    EXPECT_THAT(command, Not(Contains("--cuda-path=/cuda")));
    EXPECT_THAT(command, Not(Contains("-gline-tables-only")));
}

TEST(Jobs, OneStepWritesTheDependencyFileThatClangWould) {
    auto line = read({"-MD", "src/a.cu", "-o", "out/prog"});
    const Command command = compile_command(*line, tools, 1, "tmp.o");
    const std::size_t file = position(command, "-MF");
    ASSERT_LT(file + 1, command.size());
    EXPECT_EQ(command[file + 1], "out/prog.d");
    EXPECT_EQ(command[position(command, "-MT") + 1], "a.o");
}

TEST(Jobs, LinkPutsTrimtabsRuntimeWhereARuntimeWasNamed) {
    auto line =
        read({"-x", "cuda", "a.cpp", "-lcudart_static", "-ldl", "/usr/lib/libcudart.so", "-o", "prog"});
    const Command command = link_command(*line, tools, {{1, "t.o"}});
    EXPECT_THAT(command, Not(Contains("-lcudart_static")));
    EXPECT_THAT(command, Not(Contains("/usr/lib/libcudart.so")));
    EXPECT_LT(position(command, "-ltrimtab"), position(command, "-ldl"));
    EXPECT_TRUE(links_cuda(*line));
}

TEST(Jobs, ObjectsOfCudaSourcesAreNotReadAsSources) {
    auto line = read({"-x", "c++", "a.txt", "-x", "cuda", "b.txt", "-x", "c++", "c.txt", "-o", "prog"});
    const Command command = link_command(*line, tools, {{3, "b.o"}});
    EXPECT_EQ(command[position(command, "a.txt") - 1], "c++");
    EXPECT_EQ(command[position(command, "b.o") - 1], "none");
    EXPECT_EQ(command[position(command, "c.txt") - 1], "c++");
    EXPECT_THAT(command, Not(Contains("cuda")));
}

TEST(Jobs, PlainProgramsLinkWithoutCuda) {
    EXPECT_FALSE(links_cuda(*read({"a.cpp", "b.o", "-lm"})));
    EXPECT_TRUE(links_cuda(*read({"a.cpp", "-lcudart"})));
    EXPECT_TRUE(links_cuda(*read({"a.cpp", "-l:libcudart.so.13"})));
}

}  // namespace
}  // namespace trimtab::wrapper
