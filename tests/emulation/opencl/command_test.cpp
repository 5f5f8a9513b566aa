// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `trimtab cl`, and the other subcommands on OpenCL C, as users meet them.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/base/process.h"
#include "core/base/temporary_folder.h"

namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using trimtab::base::Capture;
using trimtab::base::Outcome;

struct OpenClCommand : testing::Test {
    trimtab::base::TemporaryFolder folder = trimtab::base::TemporaryFolder::make().value();

    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(folder.file(name)) << text;
        return folder.file(name);
    }
    [[nodiscard]] Outcome trimtab(std::vector<std::string> words, Capture capture = Capture::output) const {
        words.insert(words.begin(), TRIMTAB_BINARY_DIR "/bin/trimtab");
        return trimtab::base::run(
                   {.words = std::move(words), .environment = {{"XDG_CACHE_HOME", folder.path()}}}, capture)
            .value();
    }
};

constexpr const char* saxpy = R"(#include "guard.h"
kernel void saxpy(global const float* x, global float* y, float a, uint n) {
    uint i = get_global_id(0);
    if (IN_RANGE(i, n)) y[i] = a * x[i] + y[i];
}
)";

TEST_F(OpenClCommand, CompilesAFileThatTheOtherToolsRead) {
    write("guard.h", "#define IN_RANGE(i, n) ((i) < (n))\n");
    const std::string source = write("saxpy.cl", saxpy), ptx = folder.file("out.ptx");
    const Outcome compiled =
        trimtab({"cl", source, "-DUNUSED=1", "-o", ptx, "--json", "--", "-cl-mad-enable"});
    ASSERT_EQ(compiled.exit_code, 0);
    const Json parameters = Json::parse(compiled.captured)["kernels"][0]["parameters"];
    ASSERT_EQ(parameters.size(), 4u);
    EXPECT_EQ(parameters[3], (Json{{"name", "n"}, {"type", "uint"}, {"qualifiers", ""}, {"access", "none"}}));
    std::ifstream file(ptx);
    EXPECT_THAT(std::string(std::istreambuf_iterator<char>(file), {}), HasSubstr(".entry saxpy"));
    // The guard is proved, and named as the source has it.
    const Outcome inspected = trimtab({"inspect", source, "--json"});
    EXPECT_THAT(inspected.captured, HasSubstr("\"covering\""));
    EXPECT_THAT(inspected.captured, HasSubstr("\"name\": \"n\""));
    EXPECT_EQ(
        trimtab({"predict", source, "--grid", "64", "--block", "128", "--arg", "n=8192", "--arg", "a=2"})
            .exit_code,
        0);
}

TEST_F(OpenClCommand, RefusesWhatItCannotCompile) {
    const std::string broken = write("broken.cl", "kernel void k(global int* p) {\n    p[0] = nothing;\n}\n");
    const Outcome outcome = trimtab({"cl", broken, "-o", folder.file("out.ptx")}, Capture::messages);
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_THAT(outcome.captured, HasSubstr("broken.cl:2:12: error: use of undeclared identifier 'nothing'"));
    EXPECT_THAT(outcome.captured, HasSubstr("broken.cl: does not compile"));
    EXPECT_EQ(trimtab({"cl", folder.file("none.cl")}, Capture::messages).exit_code, 3);
    EXPECT_EQ(trimtab({"cl", folder.path()}, Capture::messages).exit_code, 3);
    EXPECT_EQ(trimtab({"cl"}, Capture::messages).exit_code, 2);
    write("guard.h", "#define IN_RANGE(i, n) ((i) < (n))\n");
    const std::string source = write("saxpy.cl", saxpy);
    EXPECT_EQ(trimtab({"cl", source, "-o", folder.file("no/such/folder")}, Capture::messages).exit_code, 3);
    EXPECT_THAT(trimtab({"cl", source, "--", "-fplugin=x.so"}, Capture::messages).captured,
                HasSubstr("unknown build option -fplugin=x.so"));
}

}  // namespace
