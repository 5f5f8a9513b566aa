// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What trimtab++ makes of a command line, against what clang's driver documents.
#include "tools/trimtab++/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "tools/trimtab++/jobs.h"
#include "tools/trimtab++/source_fixes.h"

namespace trimtab::wrapper {
namespace {

using testing::Contains;
using testing::ElementsAre;
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
                      .macro_plugin = "/p/libtrimtab_macro.so",
                      .runtime_dir = "/p",
                      .cuda = "/cuda",
                      .own_headers = "/include",
                      .compatibility = "/include/trimtab/nvcc",
                      .lowest_architecture = 75,
                      .openmp = {.has_library = false, .gcc_include = "/gcc/include"}};

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
                      "--trimtab-quiet", "--trimtab-check=off", "--trimtab-precompile=off", "a.cu"});
    ASSERT_TRUE(line);
    EXPECT_FALSE(line->check);
    EXPECT_FALSE(line->precompile);
    EXPECT_TRUE(read({"a.cu"})->precompile);
    EXPECT_TRUE(read({"--trimtab-check=on", "a.cu"})->check);
    EXPECT_EQ(read({"--trimtab-coarsen=2,8,4", "a.cu"})->elements, (std::vector<std::uint32_t>{2, 8, 4}));
    EXPECT_TRUE(read({"a.cu"})->elements.empty());
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
          "--trimtab-keep=", "--trimtab-profile=", "--trimtab-check=", "--trimtab-check=no",
          "--trimtab-precompile=yes", "--trimtab-coarsen=", "--trimtab-coarsen=1", "--trimtab-coarsen=2,33",
          "--trimtab-coarsen=2,2", "--trimtab-coarsen=2,", "--trimtab-coarsen=x",
          "--trimtab-coarsen=2,3,4,5,6", "--trimtab-nothing"}) {
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
    EXPECT_LT(position(command, "-l:libtrimtab.so"), position(command, "-ldl"));
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

// What nvcc's documentation says of each option, in clang's words.
TEST(Nvcc, OptionsBecomeClangs) {
    auto words = [](std::vector<std::string> tokens) {
        auto translated = translate_nvcc_options(tokens);
        return translated ? translated->tokens : std::vector<std::string>{translated.error().text()};
    };
    EXPECT_THAT(words({"-arch=sm_80"}), ElementsAre("--cuda-gpu-arch=sm_80"));
    EXPECT_THAT(words({"-arch", "compute_80"}), ElementsAre("--cuda-gpu-arch=sm_80"));
    EXPECT_THAT(words({"--gpu-architecture=compute_75", "--gpu-code=sm_75,compute_75"}),
                ElementsAre("--cuda-gpu-arch=sm_75"));
    for (const std::vector<std::string>& both :
         {std::vector<std::string>{"-gencode", "arch=compute_80,code=sm_80",
                                   "-gencode=arch=compute_90,code=compute_90"},
          {"--generate-code", "arch=compute_80,code=[sm_80,compute_80]", "-gencode",
           "arch=compute_90,code=\"sm_90,compute_90\""},
          {"-gencode=arch=compute_80,code=\\\"sm_80,compute_80\\\"", "-gencode", "arch=compute_90"}})
        EXPECT_THAT(words(both), ElementsAre("--cuda-gpu-arch=sm_80", "--cuda-gpu-arch=sm_90"));
    EXPECT_THAT(words({"-Xcompiler", "-fPIC,-Wall"}), ElementsAre("-fPIC", "-Wall"));
    EXPECT_THAT(words({"--compiler-options=\"-O2 -fopenmp\""}),
                ElementsAre("-Xarch_host", "-O2", "-fopenmp"));
    EXPECT_THAT(words({"-Xcompiler", "-Wl,-rpath,/lib"}), ElementsAre("-Wl,-rpath,/lib"));
    EXPECT_THAT(words({"-Xptxas", "-v,-dlcm=cg"}),
                ElementsAre("-Xcuda-ptxas", "-v", "-Xcuda-ptxas", "-dlcm=cg"));
    EXPECT_THAT(words({"-Xlinker", "-rpath,/lib"}), ElementsAre("-Xlinker", "-rpath", "-Xlinker", "/lib"));
    EXPECT_THAT(words({"-Xlinker", "--defsym=a,b"}), ElementsAre("-Xlinker", "--defsym=a,b"));
    EXPECT_THAT(words({"-maxrregcount=32"}), ElementsAre("-Xcuda-ptxas", "-maxrregcount=32"));
    // What clang hands on is not read as nvcc's.
    EXPECT_THAT(words({"-Xcuda-ptxas", "--maxrregcount=32"}),
                ElementsAre("-Xcuda-ptxas", "--maxrregcount=32"));
    EXPECT_THAT(words({"-dc", "a.cu"}), ElementsAre("-c", "-fgpu-rdc", "a.cu"));
    EXPECT_THAT(words({"-rdc=true", "-x", "cu", "a.cpp"}), ElementsAre("-fgpu-rdc", "-x", "cuda", "a.cpp"));
    EXPECT_THAT(words({"--relocatable-device-code", "false"}), ElementsAre("-fno-gpu-rdc"));
    EXPECT_THAT(words({"-lineinfo", "--threads", "4", "-t8", "-cudart=static", "-ccbin", "g++",
                       "--Wno-deprecated-gpu-targets", "-Wno-deprecated-gpu-targets", "-Xnvlink", "-v",
                       "--diag-suppress=177,20012", "-use_fast_mathx"}),
                ElementsAre("-use_fast_mathx"));
    EXPECT_THAT(words({"-O", "3", "-m64", "-std=c++17", "--std", "c++14", "-g", "-lcublas"}),
                ElementsAre("-O3", "-m64", "-std=c++17", "-std=c++14", "-g", "-lcublas"));
    EXPECT_THAT(words({"-isystem=/s", "-I=/i", "-L=/l", "-l=m", "-D=A=1", "-U=B", "-include=c.h", "-o=d",
                       "-MF=e", "-MT=f"}),
                ElementsAre("-isystem", "/s", "-I/i", "-L/l", "-lm", "-DA=1", "-UB", "-include", "c.h", "-o",
                            "d", "-MF", "e", "-MT", "f"));
    EXPECT_THAT(words({"-Werror", "all-warnings"}), ElementsAre("-Werror"));
    EXPECT_THAT(words({"-Werror", "-Werror=return-type"}), ElementsAre("-Werror", "-Werror=return-type"));
    EXPECT_THAT(words({"--fmad=false"}), ElementsAre("-Xarch_device", "-ffp-contract=off"));
    EXPECT_THAT(words({"-arch"}), ElementsAre(HasSubstr("-arch")));
    EXPECT_THAT(words({"-optf", "/nowhere/options"}), ElementsAre(HasSubstr("/nowhere/options")));
}

TEST(Nvcc, ClangsOwnOptionsStay) {
    const std::vector<std::string> clangs = {"-O3",
                                             "-march=native",
                                             "--cuda-gpu-arch=sm_75",
                                             "-stdlib=libstdc++",
                                             "-x",
                                             "cuda",
                                             "-Xarch_device",
                                             "-O1",
                                             "-include",
                                             "a.h",
                                             "-fgpu-rdc",
                                             "--offload-arch=sm_80",
                                             "-Xlinker",
                                             "-z",
                                             "-MD",
                                             "-MF",
                                             "d",
                                             "-time",
                                             "-shared",
                                             "-fopenmp"};
    auto translated = translate_nvcc_options(clangs);
    ASSERT_TRUE(translated);
    EXPECT_EQ(translated->tokens, clangs);
    EXPECT_FALSE(translated->is_nvcc_style);
}

TEST(Nvcc, ArchitecturesThatTheToolkitDroppedBecomeTheLowest) {
    EXPECT_EQ(supported_architecture("sm_60", 75), "sm_75");
    EXPECT_EQ(supported_architecture("sm_90a", 75), "sm_90a");
    EXPECT_EQ(supported_architecture("sm_60", 50), "sm_60");
    auto line = read({"-gencode", "arch=compute_35,code=sm_35", "-c", "a.cu"});
    EXPECT_THAT(compile_command(*line, tools, 1, "a.o"), Contains("--cuda-gpu-arch=sm_75"));
}

TEST(Nvcc, ArchitecturesThatCameWithTheNewestPtxGetIt) {
    const std::string newest = "--cuda-feature=+ptx90";
    for (const char* name : {"sm_88", "sm_110a"}) {
        auto line = read({std::string("-arch=") + name, "-c", "a.cu"});
        EXPECT_THAT(compile_command(*line, tools, 2, "a.o"), Contains(newest));
        EXPECT_THAT(device_code_generation_command(*line, tools, name, "a.bc", "a.ptx"), Contains("+ptx90"));
    }
    auto line = read({"-arch=sm_90", "-c", "a.cu"});
    EXPECT_THAT(compile_command(*line, tools, 2, "a.o"), Not(Contains(newest)));
    auto family = read({"-arch=sm_100f", "-c", "a.cu"});
    EXPECT_THAT(family->nvcc.notes, ElementsAre(HasSubstr("sm_100f is compiled as sm_100")));
    EXPECT_THAT(compile_command(*family, tools, 2, "a.o"), Contains("--cuda-gpu-arch=sm_100"));
}

TEST(Nvcc, SignedOverflowOfHostCodeWrapsWhereAnOptionIsNvccs) {
    auto compiled = [](std::vector<std::string> words) {
        auto line = read(std::move(words));
        return compile_command(*line, tools, line->arguments.size() - 1, "a.o");
    };
    EXPECT_THAT(compiled({"-arch=sm_75", "-fno-wrapv", "a.cu"}), Contains("-fwrapv"));
    EXPECT_THAT(compiled({"--cuda-gpu-arch=sm_75", "a.cu"}), Not(Contains("-fwrapv")));
    auto host = read({"-arch=sm_75", "-c", "a.c"});
    EXPECT_THAT(host_compile_command(*host, tools, 2, "a.o"), Contains("-fwrapv"));
}

TEST(Nvcc, SpecialRegistersNamedWithOnePercentSignAreEscaped) {
    auto fixed = with_escaped_registers(R"(asm volatile ("mov.u32 %0, %laneid;" : "=r"(r)); // %tid
        asm("mov.u32 %0, %%smid;" : "=r"(s)); asm("{ mov.u32 %0, %tid.x; }" "add.u32 %0, %1, 3;" : "=r"(s) : "r"(2));)");
    ASSERT_TRUE(fixed);
    EXPECT_EQ(*fixed, R"(asm volatile ("mov.u32 %0, %%laneid;" : "=r"(r)); // %tid
        asm("mov.u32 %0, %%smid;" : "=r"(s)); asm("{ mov.u32 %0, %%tid.x; }" "add.u32 %0, %1, 3;" : "=r"(s) : "r"(2));)");
    for (const char* text : {"asm(\"bar.sync 0; // %tid\");", "printf(\"%tid\", 1);",
                             "asm(\"x %%tid;\" : : );", "// asm(\"%laneid\" : )", "asm(\"unfinished %laneid"})
        EXPECT_FALSE(with_escaped_registers(text)) << text;
}

TEST(Nvcc, ChevronsThatStandApartAreJoined) {
    EXPECT_EQ(with_joined_chevrons("k << <grid, (a >> 1) >> > (x);"), "k <<< grid, (a >> 1) >>>  (x);");
    EXPECT_EQ(with_joined_chevrons("k<float> << < 1, 2\n> > >(\"<< <\");"),
              "k<float> <<<  1, 2\n>>>  (\"<< <\");");
    EXPECT_EQ(with_joined_chevrons("k<<<f(b[i] -> n), 1>> >(x);"), "k<<<f(b[i] -> n), 1>>> (x);");
    for (const char* text : {"k<<<1, 2>>>(x);", "std::ostream& operator<< <T>(std::ostream&, T);",
                             "a << b < c >> > d;", "A<B<C<int> > > x;", "puts(\"k << <1, 2>> >(x)\");",
                             "// k << <1, 2 >> >(x);", "k << <1, 2 >> > x;", "k << <1, 2", "<<<", ""})
        EXPECT_FALSE(with_joined_chevrons(text)) << text;
}

TEST(Nvcc, OptimisesDeviceCodeAsNvccDoes) {
    auto command = [](std::vector<std::string> words) {
        return compile_command(*read(std::move(words)), tools, 0, "a.o");
    };
    auto optimises = [](const Command& made) {
        for (std::size_t i = 1; i < made.size(); ++i)
            if (made[i] == "-O3" && made[i - 1] == "-Xarch_device") return true;
        return false;
    };
    EXPECT_TRUE(optimises(command({"a.cu"})));
    EXPECT_TRUE(optimises(command({"a.cu", "-O0", "-arch=sm_80"})));
    EXPECT_FALSE(optimises(command({"a.cu", "-G", "-arch=sm_80"})));
    EXPECT_FALSE(optimises(command({"a.cu", "-O1"})));
    EXPECT_FALSE(optimises(command({"a.cu", "-g"})));
}

}  // namespace
}  // namespace trimtab::wrapper
