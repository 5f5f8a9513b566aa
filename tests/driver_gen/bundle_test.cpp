// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bundle compiled, merged and linked as the wrapper does it.
#include "driver_gen/bundle.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>

#include "core/model/device.h"
#include "core/model/performance_model.h"
#include "driver_gen/driver_units.h"
#include "driver_gen/record.h"

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
                               {.description = &left_alone_,
                                .profile = {},
                                .fits = {},
                                .no_driver = "it ran for too long"}}};
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
    EXPECT_EQ(json["kernels"][1]["no_driver"], "it ran for too long");
    EXPECT_FALSE(json["kernels"][0].contains("no_driver"));
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

// Nine make two units, of which the second is a driver program as it stands. A kernel may be called like a function
// of the generated text.
TEST_F(Bundles, DriversOfOneUnitComputeWhatEachComputesAlone) {
    constexpr int count = 9;
    std::vector<analysis::KernelDescription> kernels(count, fitted_);
    bundle_.kernels.clear();
    for (int i = 0; i < count; i++) {
        kernels[i].id = "00000000000000c" + std::to_string(i);
        kernels[i].name = kernels[i].demangled = i == 0 ? "trimtab_kernel_predict" : "k" + std::to_string(i);
        KernelFits fits = fits_;
        fits.metrics[0].pieces[0].numerator[0].coefficient = 3 + i;
        bundle_.kernels.push_back({.description = &kernels[i], .profile = profile_, .fits = std::move(fits)});
    }
    const auto sources = generate(bundle_, program_);
    ASSERT_TRUE(sources) << sources.error().text();
    ASSERT_EQ(sources->drivers.size(), static_cast<std::size_t>(count));
    const std::vector<SourceFile> units = driver_units(sources->drivers);
    ASSERT_EQ(units.size(), 2U);
    EXPECT_EQ(units[1].content, sources->drivers[8].content);
    std::string declared, all;
    for (int i = 0; i < count; i++) {
        declared += "extern const trimtab_driver trimtab_driver_" + kernels[i].id + ";\n";
        all += "&trimtab_driver_" + kernels[i].id + ", ";
    }
    const trimtab_device device = model::find_device("rtx2080ti")->values;
    std::string values;
    for (const double* value = &device.sm_count; value <= &device.l2_bytes_per_clock; value++)
        values += fmt::format("{:a}, ", *value);
    std::ofstream(path("main.c")) << "#include <stdio.h>\n#include <trimtab/driver.h>\n" + declared +
                                         "static const trimtab_driver* const drivers[] = {" + all + R"(};
int main(void) {
    static const trimtab_device device = {sizeof device, 75, )" +
                                         values + R"(};
    static const trimtab_image image = {32, 0, 0, 1024};
    static const trimtab_limits limits = {{1000, 1, 1}, {1024, 1, 1}, {1000, 1, 1}, 1024, 32, 0, 0};
    const double data[] = {1000, 1000};
    unsigned i, c;
    for (i = 0; i < 9; i++) {
        const trimtab_dim3 block = {64, 1, 1};
        trimtab_prediction of_block;
        trimtab_choice best[4];
        int found = drivers[i]->select(&device, &image, data, &limits, 0, 4, best);
        printf("%s %d %d", drivers[i]->kernel, drivers[i]->evaluate(&device, &image, data, block, 0, &of_block), found);
        printf(" %a %a %a", of_block.predicted_ns, of_block.relative_error, of_block.metrics[0]);
        for (c = 0; c < 4; c++) printf(" %u %a", best[c].block.x, best[c].predicted_ns);
        printf("\n");
    }
    return 0;
}
)";
    compiler_.flags = {"-Wall", "-Wextra", "-Werror"};
    const auto printed = [&](std::span<const SourceFile> files) {
        const auto objects = compile(files, folder_, compiler_);
        if (!objects) return objects.error().text();
        std::string command = "clang-22 -I" + compiler_.include_folder + " main.c -lm -o main";
        for (const std::string& object : *objects) command += " " + object;
        return shell(command + " && ./main > out") ? read("out") : "it does not run";
    };
    const std::string alone = printed(sources->drivers);
    EXPECT_EQ(printed(units), alone);
    EXPECT_TRUE(alone.starts_with("trimtab_kernel_predict 0 4 ")) << alone;
    EXPECT_NE(alone.find(" 0x1.6p+3 "), std::string::npos) << "the ninth's metric is 11:\n" << alone;
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
