// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Headers that are parsed once for several compiles: what comes of a compile does not hang on them.
#include "build_fixture.h"

namespace trimtab::wrapper::tests {
namespace {

using testing::AllOf;

class PrecompiledHeaders : public Build {
  protected:
    Outcome compile(const std::string& options) {
        return shell(trimtab("-O2 --trimtab-quiet --trimtab-profile=off -c " + options));
    }
    std::string bytes(const std::string& file) {
        std::ifstream stream(folder_ / "work" / file, std::ios::binary);
        std::stringstream all;
        all << stream.rdbuf();
        return all.str();
    }
    // Folders with headers, and those of options that were seen once.
    std::pair<int, int> kept() {
        int made = 0, all = 0;
        for (const fs::directory_entry& entry : fs::directory_iterator(headers())) {
            ++all;
            made += fs::exists(entry.path() / "precompiled") && !fs::is_empty(entry.path() / "precompiled")
                        ? 1
                        : 0;
        }
        return {made, all};
    }
    fs::path headers() const { return folder_ / "cache" / "trimtab" / "headers"; }
};

TEST_F(PrecompiledHeaders, AreMadeAtTheSecondCompileAndChangeNoByte) {
    ASSERT_EQ(compile("scale.cu -o plain.o --trimtab-precompile=off").code, 0);
    ASSERT_FALSE(fs::exists(headers()));
    ASSERT_EQ(compile("scale.cu -o first.o").code, 0);
    EXPECT_EQ(kept(), std::pair(0, 1));
    // Another source, and dependencies: the options are the same.
    ASSERT_EQ(compile("one.cu -MD -MF one.d -o one.o").code, 0);
    EXPECT_EQ(kept(), std::pair(1, 1));
    const Outcome third = compile("scale.cu -MD -o third.o");
    EXPECT_EQ(third.code, 0);
    EXPECT_EQ(third.text, "");
    EXPECT_EQ(kept(), std::pair(1, 1));
    EXPECT_FALSE(bytes("plain.o").empty());
    EXPECT_TRUE(bytes("plain.o") == bytes("first.o"));
    EXPECT_TRUE(bytes("plain.o") == bytes("third.o"));
    // Build systems look at these files again: none may be one of the cache's.
    EXPECT_THAT(bytes("third.d"), AllOf(HasSubstr("scale.cu"), HasSubstr("cuda_runtime.h"),
                                        HasSubstr("nvcc.h"), Not(HasSubstr("/cache/"))));
}

TEST_F(PrecompiledHeaders, OfOtherOptionsAreOthers) {
    write("macro.cu", "#include <math.h>\n__global__ void set(int *x) { *x = VALUE + FROM_HEADER; }\n");
    fs::create_directories(folder_ / "work" / "own");
    write("own/math.h", "#include_next <math.h>\n#ifndef FROM_HEADER\n#define FROM_HEADER VALUE\n#endif\n");
    for (const char* value : {"1", "2", "1", "2", "1", "2"}) {
        const std::string object = std::string(value) + ".o";
        const Outcome built =
            compile("-isystem own -DVALUE=" + std::string(value) + " macro.cu -o " + object);
        ASSERT_EQ(built.code, 0) << built.text;
    }
    EXPECT_EQ(kept(), std::pair(2, 2));
    EXPECT_FALSE(bytes("1.o") == bytes("2.o"));
    ASSERT_EQ(compile("-isystem own -DVALUE=2 macro.cu -o plain.o --trimtab-precompile=off").code, 0);
    EXPECT_TRUE(bytes("plain.o") == bytes("2.o"));
}

TEST_F(PrecompiledHeaders, AreMadeAnewWhereAHeaderHasChanged) {
    write("header.cu", "#include <math.h>\n__global__ void set(int *x) { *x = FROM_HEADER; }\n");
    fs::create_directories(folder_ / "work" / "own");
    const std::string next = "#include_next <math.h>\n#undef FROM_HEADER\n#define FROM_HEADER ";
    write("own/math.h", next + "1\n");
    for (int i = 0; i < 3; ++i) ASSERT_EQ(compile("-isystem own header.cu -o old.o").code, 0);
    ASSERT_EQ(kept(), std::pair(1, 1));
    write("own/math.h", next + "22\n");
    for (int i = 0; i < 3; ++i) {
        const Outcome built = compile("-isystem own header.cu -o new.o");
        EXPECT_EQ(built.code, 0);
        EXPECT_EQ(built.text, "");
        EXPECT_FALSE(bytes("old.o") == bytes("new.o"));
        EXPECT_EQ(kept(), std::pair(i == 0 ? 0 : 1, 1)) << i;
    }
    ASSERT_EQ(compile("-isystem own header.cu -o plain.o --trimtab-precompile=off").code, 0);
    EXPECT_TRUE(bytes("plain.o") == bytes("new.o"));
}

TEST_F(PrecompiledHeaders, ThatAreBrokenOrCannotBeKeptCostNothingElse) {
    for (int i = 0; i < 2; ++i) ASSERT_EQ(compile("scale.cu -o scale.o").code, 0);
    for (const fs::directory_entry& file : fs::recursive_directory_iterator(headers()))
        if (file.path().extension() == ".pch") fs::resize_file(file.path(), 1000);
    const Outcome built = compile("scale.cu -o again.o");
    EXPECT_EQ(built.code, 0);
    EXPECT_EQ(built.text, "");
    EXPECT_TRUE(bytes("scale.o") == bytes("again.o"));
    EXPECT_EQ(kept(), std::pair(0, 1));

    fs::remove_all(headers());
    std::ofstream(headers()) << "a file";
    for (int i = 0; i < 2; ++i) {
        const Outcome without = compile("scale.cu -o without.o");
        EXPECT_EQ(without.code, 0);
        EXPECT_EQ(without.text, "");
    }
}

TEST_F(PrecompiledHeaders, LeaveErrorsAsTheyAre) {
    write("wrong.cu", "__global__ void wrong(int *x) { *x = sqrtf(y); }\n");
    const Outcome plain = compile("wrong.cu --trimtab-precompile=off");
    EXPECT_THAT(plain.text, HasSubstr("wrong.cu:1:44: error: use of undeclared identifier 'y'"));
    for (int i = 0; i < 3; ++i) {
        const Outcome outcome = compile("wrong.cu");
        EXPECT_EQ(outcome.code, plain.code);
        EXPECT_EQ(outcome.text, plain.text);
    }
    EXPECT_EQ(kept(), std::pair(1, 1));
}

// What is told to debuggers would be less; these show what is read, or read more before the source.
TEST_F(PrecompiledHeaders, AreLeftOutWhereTheyWouldBeSeen) {
    write("first.h", "struct First {};\n");
    for (const char* option : {"-g", "-save-temps", "-H", "-include first.h"})
        for (int i = 0; i < 2; ++i) ASSERT_EQ(compile(std::string(option) + " scale.cu -o scale.o").code, 0);
    EXPECT_FALSE(fs::exists(headers()));
}

}  // namespace
}  // namespace trimtab::wrapper::tests
