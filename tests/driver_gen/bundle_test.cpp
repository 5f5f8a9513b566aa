// A bundle compiled, merged and linked as the wrapper does it.
#include "driver_gen/bundle.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>

#include "driver_gen/record.h"
#include "model/performance_model.h"

namespace trimtab::driver_gen {
namespace {

class Bundles : public ::testing::Test {
  protected:
    void SetUp() override {
        folder_ = ::testing::TempDir() + "bundle_XXXXXX";
        ASSERT_NE(mkdtemp(folder_.data()), nullptr);
        fitted_.id = "00000000000000b1";
        fitted_.name = "_Z1ki";
        fitted_.demangled = "k(int)";
        left_alone_ = fitted_;
        left_alone_.id = "00000000000000b2";
        left_alone_.name = "_Z4alone\"\\\n\xc3\xa9";  // anything may stand in a name
        for (const char* name : {"n", "extent.x"})
            fitted_.data.push_back({.name = name, .is_extent = name[0] == 'e', .type = "s32", .bounds = {}});
        fitted_.dimensions[0].index = analysis::Index::global;
        fits_.data_names = {"n", "extent.x"};
        fits_.profiled = {{64, 256, true}, {64, 256, true}};
        FittedMetric fit;
        fit.pieces = {{.when = {}, .numerator = {{.coefficient = 3, .exponents = {}}}, .denominator = {}}};
        fits_.metrics = {fit};
        profile_.data_names = fits_.data_names;
        profile_.varied = {true, true};
        bundle_ = {.fat_binary_hash = "feedfacefeedface",
                   .compiler = "trimtab++ 0.1.0",
                   .input = "k.cu",
                   .kernels = {{.description = &fitted_, .profile = profile_, .fits = fits_},
                               {.description = &left_alone_, .profile = {}, .fits = {}}}};
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    [[nodiscard]] std::string path(const char* name) const { return folder_ + "/" + name; }
    bool shell(const std::string& command) const {
        return std::system(("cd " + folder_ + " && " + command).c_str()) == 0;
    }
    [[nodiscard]] std::string read(const char* name) const {
        std::ifstream file(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::string folder_;
    analysis::KernelDescription fitted_, left_alone_;
    KernelFits fits_;
    profiler::Profile profile_;
    Bundle bundle_;
    CCompiler compiler_{
        .command = "clang-22", .flags = {}, .include_folder = std::string(TRIMTAB_SOURCE_DIR) + "/include"};
    const model::RationalProgram& program_ = **model::performance_model(model::default_model);
};

TEST_F(Bundles, RegisterThemselvesAndKeepTheRecord) {
    const auto sources = generate(bundle_, program_);
    ASSERT_TRUE(sources) << sources.error().text();
    ASSERT_EQ(sources->drivers.size(), 1u);
    EXPECT_EQ(sources->drivers[0].name, "k.driver.c");
    std::vector<SourceFile> all = sources->drivers;
    all.push_back(sources->bundle);
    const auto objects = compile(all, folder_, compiler_);
    ASSERT_TRUE(objects) << objects.error().text();
    ASSERT_TRUE(shell("ld -r -o all.o " + (*objects)[0] + " " + (*objects)[1]));

    std::ofstream(path("main.c")) << R"(
#include <stdio.h>
#include <trimtab/driver.h>
void trimtab_register_bundle(const trimtab_bundle* b) {
    printf("%u %u %s %s %s %d\n", b->abi, b->driver_count, b->fat_binary_hash, b->drivers[0]->id,
           b->drivers[0]->data_names[1], b->json[0] == '{' && b->json[b->json_bytes - 1] == '}');
}
void trimtab_unregister_bundle(const trimtab_bundle* b) { printf("gone %u\n", b->driver_count); }
int main(void) { return 0; }
)";
    ASSERT_TRUE(
        shell("clang-22 -I" + compiler_.include_folder + " main.c all.o -lm -Wl,--gc-sections -o main"));
    ASSERT_TRUE(shell("./main > out"));
    EXPECT_EQ(read("out"), std::to_string(TRIMTAB_DRIVER_ABI) +
                               " 1 feedfacefeedface 00000000000000b1 extent.x 1\ngone 1\n");

    // The section holds exactly one record.
    ASSERT_TRUE(shell("objcopy --dump-section trimtab_data=record main scratch"));
    const std::string record = read("record");
    const auto unpacked = unpack(std::as_bytes(std::span(record)));
    ASSERT_TRUE(unpacked) << unpacked.error();
    EXPECT_EQ(unpacked->bytes, record.size());
    const nlohmann::json& json = unpacked->json;
    EXPECT_EQ(json, nlohmann::json::parse(sources->json));
    EXPECT_EQ(json["input"], "k.cu");
    EXPECT_EQ(json["kernels"][1]["description"]["name"], left_alone_.name);
    EXPECT_FALSE(json["kernels"][1].contains("fits"));
    EXPECT_EQ(json["kernels"][0]["driver_source"], sources->drivers[0].content);
    EXPECT_EQ(*fits_from_json(json["kernels"][0]["fits"], "k"), fits_);
    EXPECT_EQ(*profiler::profile_from_json(json["kernels"][0]["profile"], "k"), profile_);
}

TEST_F(Bundles, DamageToARecordIsSaid) {
    const auto sources = generate(bundle_, program_);
    ASSERT_TRUE(sources);
    const PackedRecord packed = pack(nlohmann::json::parse(sources->json));
    const std::string whole = packed.bytes();
    const auto error = [](std::string bytes) {
        const auto unpacked = unpack(std::as_bytes(std::span(bytes)));
        return unpacked ? std::string() : unpacked.error();
    };
    EXPECT_EQ(error(whole), "");
    const std::size_t used = record_header_bytes + packed.json.size() + packed.details.size();
    for (std::size_t at = 0; at < used; at += 7) EXPECT_NE(error(whole.substr(0, at)), "") << at;
    std::string damaged = whole;
    damaged[record_header_bytes + packed.json.size() + packed.details.size() / 2] ^= 1;
    EXPECT_EQ(error(damaged), "the record's details are not those that it names");
    // Another fat binary's details, and none.
    const std::string other = PackedRecord{.json = packed.json, .details = {}}.bytes();
    EXPECT_EQ(error(other), "the record's details are not those that it names");
}

TEST_F(Bundles, LinkWithoutTheRuntimeAndTwiceInOneProgram) {
    bundle_.input = "a.cu";
    auto sources = generate(bundle_, program_);
    ASSERT_TRUE(sources);
    std::vector<SourceFile> all = sources->drivers;
    all.push_back(sources->bundle);
    all.push_back(
        {.name = "b.driver.c", .content = sources->drivers[0].content});  // the same inline kernel in b.cu
    bundle_.input = "b.cu";
    all.push_back({.name = "b.c", .content = generate(bundle_, program_)->bundle.content});
    const auto objects = compile(all, folder_, compiler_);
    ASSERT_TRUE(objects) << objects.error().text();
    std::ofstream(path("main.c")) << "int main(void) { return 0; }\n";
    EXPECT_TRUE(shell("clang-22 main.c *.o -lm -o main && ./main"));
}

// The loader binds a name of one library to the first library that has it: these have none to bind.
TEST_F(Bundles, ALibraryNeverTakesAnothersDrivers) {
    const auto sources = generate(bundle_, program_);
    ASSERT_TRUE(sources);
    std::vector<SourceFile> all = sources->drivers;
    all.push_back(sources->bundle);
    const auto objects = compile(all, folder_, compiler_);
    ASSERT_TRUE(objects) << objects.error().text();
    ASSERT_TRUE(shell("clang-22 -shared *.o -lm -o drivers.so && nm -D --defined-only drivers.so > names"));
    EXPECT_EQ(read("names").find("trimtab_driver"), std::string::npos) << read("names");
}

TEST_F(Bundles, WithoutDriversStillCarryTheDescriptions) {
    bundle_.kernels.erase(bundle_.kernels.begin());
    const auto sources = generate(bundle_, program_);
    ASSERT_TRUE(sources);
    EXPECT_TRUE(sources->drivers.empty());
    EXPECT_TRUE(compile({&sources->bundle, 1}, folder_, compiler_));
}

TEST_F(Bundles, CompilerTroubleIsOneLine) {
    const SourceFile wrong{.name = "wrong.c", .content = "int main(void) { return x; }\n"};
    const auto failed = compile({&wrong, 1}, folder_, compiler_);
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().text().find("wrong.c"), std::string::npos);
    EXPECT_EQ(failed.error().text().find('\n'), std::string::npos);
    compiler_.command = "no-such-compiler";
    EXPECT_EQ(compile({&wrong, 1}, folder_, compiler_).error().text(),
              "no-such-compiler: the C compiler cannot be started: No such file or directory");
    EXPECT_FALSE(compile({&wrong, 1}, "/proc/nowhere", compiler_));
}

}  // namespace
}  // namespace trimtab::driver_gen
