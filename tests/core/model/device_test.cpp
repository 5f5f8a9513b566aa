// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/device.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/temporary_folder.h"
#include "core/model/device_fields.h"

namespace trimtab::model {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using testing::HasSubstr;

std::vector<fs::path> device_files() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(TRIMTAB_SOURCE_DIR "/core/model/devices"))
        if (entry.path().extension() == ".json") files.push_back(entry.path());
    return files;
}

std::string text_of(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Json valid() {
    return Json::parse(text_of(TRIMTAB_SOURCE_DIR "/core/model/devices/rtx2070super.json"));
}

std::string error_of(const Json& json) {
    const auto device = parse_device(json.dump(), "mine.json");
    return device ? "" : device.error().text();
}

TEST(BuiltinDevices, AreEveryFileOfTheFolder) {
    std::set<std::string> slugs;
    for (const Device& device : devices()) slugs.insert(device.slug);
    ASSERT_FALSE(device_files().empty());
    for (const fs::path& path : device_files()) {
        const auto device = parse_device(text_of(path), path.string());
        ASSERT_TRUE(device) << device.error().text();
        EXPECT_EQ(device->slug, path.stem());
        EXPECT_TRUE(slugs.contains(device->slug)) << device->slug << " is not compiled in";
    }
    EXPECT_EQ(slugs.size(), device_files().size());
}

TEST(BuiltinDevices, EveryNameFindsOneDevice) {
    std::set<std::string> names;
    for (const Device& device : devices()) {
        std::vector<std::string> own = device.aliases;
        own.insert(own.end(), {device.slug, device.name});
        for (const std::string& name : own) {
            EXPECT_TRUE(names.insert(name).second) << name << " names two devices";
            const auto found = find_device(name);
            ASSERT_TRUE(found) << found.error().text();
            EXPECT_EQ(found->slug, device.slug);
        }
    }
    EXPECT_TRUE(find_device(default_device));
}

TEST(BuiltinDevices, ValuesAgreeWithEachOther) {
    for (const Device& device : devices()) {
        const trimtab_device& v = device.values;
        SCOPED_TRACE(device.slug);
        EXPECT_EQ(v.struct_bytes, sizeof(trimtab_device));
        EXPECT_EQ(v.compute_capability, device.compute_major * 10 + device.compute_minor);
        EXPECT_EQ(device.sources.size(), device_fields().size());
        EXPECT_NEAR(v.dram_bytes_per_s / (2 * v.memory_clock_hz * v.dram_bus_bits / 8), 1, 0.01);
        EXPECT_EQ(v.max_warps_per_sm * v.warp_size, v.max_threads_per_sm);
        EXPECT_LE(v.latency_shared_cycles, v.latency_l2_cycles);
        EXPECT_LE(v.latency_l2_cycles, v.latency_dram_cycles);
        EXPECT_LE(v.shared_bytes_per_block, v.shared_bytes_per_block_optin);
        EXPECT_LE(v.shared_bytes_per_block_optin + v.shared_reserved_bytes_per_block, v.shared_bytes_per_sm);
        EXPECT_LE(v.max_threads_per_block, v.max_threads_per_sm);
        EXPECT_TRUE(v.l1_caches_global_loads == 0 || v.l1_bytes > 0);
        // Terahertz, or a bandwidth in GB/s, would be a slip of units.
        EXPECT_GT(v.sm_clock_hz, 1e8);
        EXPECT_LT(v.sm_clock_hz, 1e10);
        EXPECT_GT(v.dram_bytes_per_s, 1e9);
        EXPECT_LT(v.dram_bytes_per_s, 1e14);
    }
}

TEST(FindDevice, IgnoresLetterCase) {
    EXPECT_EQ(find_device("RTX2070Super")->slug, "rtx2070super");
    EXPECT_EQ(find_device("geforce gtx 1080 ti")->slug, "gtx1080ti");
}

TEST(FindDevice, OffersTheNearestSlug) {
    EXPECT_THAT(find_device("gtx1080t").error().text(), HasSubstr("did you mean \"gtx1080ti\"?"));
    EXPECT_THAT(find_device("").error().text(), HasSubstr("is not known"));
}

TEST(FindDevice, ReadsAFile) {
    const auto folder = base::TemporaryFolder::make().value();
    const fs::path path = folder.file("device.json");
    Json json = valid();
    json["slug"] = "other-part";
    json["values"]["sm_count"]["value"] = 7;
    std::ofstream(path) << json;
    const auto device = find_device(path.string());
    ASSERT_TRUE(device) << device.error().text();
    EXPECT_EQ(device->slug, "other-part");
    EXPECT_EQ(device->values.sm_count, 7);
    fs::remove(path);
    EXPECT_THAT(find_device(path.string()).error().text(), HasSubstr(path.string()));
}

TEST(ParseDevice, NamesTheMissingField) {
    for (const DeviceField& field : device_fields()) {
        Json json = valid();
        json["values"].erase(std::string(field.name));
        EXPECT_EQ(error_of(json), fmt::format("mine.json: device.values has no member \"{}\"", field.name));
    }
    Json json = valid();
    json.erase("aliases");
    EXPECT_EQ(error_of(json), "mine.json: device has no member \"aliases\"");
}

TEST(ParseDevice, NamesTheMisspeltFieldAndTheOneMeant) {
    Json json = valid();
    json["values"]["sm_cuont"] = json["values"]["sm_count"];
    json["values"].erase("sm_count");
    EXPECT_EQ(error_of(json),
              "mine.json: device.values has an unknown member \"sm_cuont\"; did you mean \"sm_count\"?");
    json = valid();
    json["vlaues"] = json["values"];
    EXPECT_EQ(error_of(json), "mine.json: device has an unknown member \"vlaues\"; did you mean \"values\"?");
    json = valid();
    json["values"]["sm_count"]["sourec"] = "vendor: x";
    EXPECT_THAT(error_of(json), HasSubstr("device.values.sm_count has an unknown member \"sourec\""));
}

TEST(ParseDevice, RefusesValuesOfNoUse) {
    const auto with = [](const char* field, Json value) {
        Json json = valid();
        json["values"][field]["value"] = std::move(value);
        return error_of(json);
    };
    EXPECT_THAT(with("sm_count", 0), HasSubstr("device.values.sm_count.value is 0"));
    EXPECT_THAT(with("sm_count", -4), HasSubstr("device.values.sm_count.value is negative"));
    EXPECT_THAT(with("sm_count", "40"), HasSubstr("device.values.sm_count.value is not a number"));
    EXPECT_EQ(with("l1_bytes", 0), "");
    Json json = valid();
    json["values"]["sm_count"]["source"] = "";
    EXPECT_THAT(error_of(json), HasSubstr("device.values.sm_count.source is empty"));
    json = valid();
    json["compute_capability"] = {7, -5};
    EXPECT_THAT(error_of(json), HasSubstr("compute_capability"));
    json = valid();
    json["slug"] = "RTX 9";
    EXPECT_THAT(error_of(json), HasSubstr("slug"));
    json = valid();
    json["schema"] = 2;
    EXPECT_THAT(error_of(json), HasSubstr("schema"));
    json = valid();
    json["values"] = 3;
    EXPECT_THAT(error_of(json), HasSubstr("values"));
    EXPECT_THAT(error_of(Json::array()), HasSubstr("object"));
}

TEST(ParseDevice, GivesThePlaceOfBrokenJson) {
    const auto device = parse_device("{\n  \"schema\": 1,\n  oops\n}", "mine.json");
    ASSERT_FALSE(device);
    EXPECT_EQ(device.error().file, "mine.json");
    EXPECT_EQ(device.error().line, 3u);
    // Cut anywhere, it is an error and no crash.
    const std::string whole = valid().dump();
    for (std::size_t length = 0; length < whole.size(); length += 97)
        EXPECT_FALSE(parse_device(whole.substr(0, length), "cut.json"));
}

}  // namespace
}  // namespace trimtab::model
