// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/architecture.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/read_text.h"
#include "core/model/architecture_fields.h"
#include "core/model/device.h"

namespace trimtab::model {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using testing::HasSubstr;
using testing::StartsWith;

Json file_of(std::string_view name) {
    return Json::parse(
        *base::read_text(fmt::format("{}/core/model/architectures/{}.json", TRIMTAB_SOURCE_DIR, name)));
}

std::string what_is_wrong_with(const Json& json) {
    const auto one = parse_architecture(json.dump(), "mine.json");
    return one ? "" : one.error().text();
}

const Architecture& named(std::string_view name) {
    return *std::ranges::find(architectures(), name, &Architecture::name);
}

TEST(BuiltinArchitectures, AreEveryFileOfTheFolder) {
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(TRIMTAB_SOURCE_DIR "/core/model/architectures")) {
        if (entry.path().extension() != ".json") continue;
        ++files;
        const auto one = parse_architecture(*base::read_text(entry.path().string()), entry.path().string());
        ASSERT_TRUE(one) << one.error().text();
        EXPECT_EQ(one->name, entry.path().stem());
        const auto same = std::ranges::find(architectures(), one->name, &Architecture::name);
        ASSERT_NE(same, architectures().end()) << one->name << " is not compiled in";
        EXPECT_EQ(same->first_capability, one->first_capability);
        for (const ArchitectureField& field : architecture_fields()) {
            const Sourced& value = *one.*field.member;
            EXPECT_TRUE(value.source.starts_with("vendor: ") || value.source.starts_with("measured: ") ||
                        value.source.starts_with("estimated: "))
                << field.name << ": " << value.source;
        }
    }
    EXPECT_EQ(architectures().size(), files);
}

TEST(BuiltinArchitectures, EveryDeviceHasThatOfItsComputeCapability) {
    const std::map<unsigned, std::string> names{
        {20, "fermi"},  {30, "kepler"}, {35, "kepler"}, {50, "maxwell"}, {52, "maxwell"},
        {61, "pascal"}, {70, "volta"},  {75, "turing"}, {80, "ampere"},  {86, "ampere"},
        {89, "ampere"}, {90, "hopper"}, {120, "hopper"}};
    for (const Device& device : devices())
        EXPECT_EQ(architecture_of(device).name, names.at(device.values.compute_capability)) << device.slug;
}

TEST(BuiltinArchitectures, InheritWhatTheyDoNotState) {
    const Json hopper = file_of("hopper");
    for (const ArchitectureField& field : architecture_fields()) {
        const std::string name(field.name);
        const Sourced &own = named("hopper").*field.member, &parent = named("ampere").*field.member;
        if (hopper["values"].contains(name)) {
            EXPECT_EQ(own.value, hopper["values"][name]["value"]) << name;
        } else {
            EXPECT_EQ(own.value, parent.value) << name;
            EXPECT_EQ(own.source, parent.source) << name;
        }
    }
    // A grandparent's, by way of Turing, which has another.
    EXPECT_EQ(named("fermi").gap_atomic_cycles.value, 9);
    EXPECT_EQ(named("turing").latency_fp64_cycles.value, 40);
    EXPECT_EQ(named("ampere").latency_fp64_cycles.value, 8);
    EXPECT_EQ(named("hopper").memory_queue_instructions.value, 5);
    EXPECT_EQ(named("hopper").added_divide_i64_cycles.value, 300);
}

TEST(ParseArchitecture, NamesWhatIsMissingOrMisspelt) {
    for (const ArchitectureField& field : architecture_fields()) {
        Json json = file_of("fermi");
        json["values"].erase(std::string(field.name));
        EXPECT_EQ(what_is_wrong_with(json),
                  fmt::format("mine.json: architecture.values has no member \"{}\"", field.name));
    }
    Json json = file_of("hopper");
    json["values"]["gap_tensor_cylces"] = json["values"]["gap_tensor_cycles"];
    EXPECT_EQ(what_is_wrong_with(json),
              "mine.json: architecture.values has an unknown member \"gap_tensor_cylces\"; did you mean "
              "\"gap_tensor_cycles\"?");
    json = file_of("hopper");
    json["inherits"] = "amper";
    EXPECT_THAT(what_is_wrong_with(json),
                HasSubstr("architecture.inherits names an architecture that is not known"));
    const auto broken = parse_architecture("{\n  \"schema\": 1,\n  oops\n}", "mine.json");
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().file, "mine.json");
    EXPECT_EQ(broken.error().line, 3u);
    const std::string whole = file_of("turing").dump();
    for (std::size_t length = 0; length < whole.size(); length += 53)
        EXPECT_FALSE(parse_architecture(whole.substr(0, length), "cut.json"));
}

TEST(ParseArchitecture, RefusesValuesOfNoUse) {
    const auto with = [](const char* field, Json value) {
        Json json = file_of("fermi");
        json["values"][field]["value"] = std::move(value);
        return what_is_wrong_with(json);
    };
    EXPECT_THAT(with("latency_atomic_cycles", -1), HasSubstr("latency_atomic_cycles.value is below 0"));
    EXPECT_THAT(with("gap_l1_cycles", 0), HasSubstr("gap_l1_cycles.value is below 0.001"));
    EXPECT_THAT(with("dram_share", 1.5), HasSubstr("dram_share.value is above 1"));
    EXPECT_THAT(with("issues_per_cycle", 1.5), HasSubstr("issues_per_cycle.value is not a whole number"));
    EXPECT_THAT(with("gap_l1_cycles", "1"), HasSubstr("gap_l1_cycles.value is not a number"));
    EXPECT_EQ(with("latency_tensor_cycles", 0), "");
    Json json = file_of("fermi");
    json["values"]["gap_l1_cycles"]["source"] = "";
    EXPECT_THAT(what_is_wrong_with(json), HasSubstr("gap_l1_cycles.source is empty"));
}

TEST(ParseArchitecture, AnErrorOfWhatItInheritsIsThatFiles) {
    Json child = file_of("hopper");
    const auto error = [&](const std::string& parent) {
        const auto one = parse_architecture(child.dump(), "mine.json",
                                            [&](std::string_view) { return std::string_view(parent); });
        return one ? "" : one.error().text();
    };
    EXPECT_THAT(error("{"), StartsWith("ampere.json"));
    // In a circle.
    EXPECT_THAT(error(child.dump()), HasSubstr("architecture.inherits leads back to \"ampere\""));
    Json turned = file_of("ampere");
    turned["inherits"] = "hopper";
    EXPECT_THAT(error(turned.dump()), HasSubstr("architecture.inherits leads back to \"hopper\""));
}

TEST(DeviceArchitecture, IsTheOneThatTheDeviceNamesWithItsOwnValues) {
    Json json = Json::parse(*base::read_text(TRIMTAB_SOURCE_DIR "/core/model/devices/rtx2070super.json"));
    json["architecture"] = "hopper";
    json["values"]["latency_integer_cycles"] = {{"value", 7}, {"source", "estimated: a thought"}};
    const auto device = parse_device(json.dump(), "mine.json");
    ASSERT_TRUE(device) << device.error().text();
    const Architecture own = architecture_of(*device);
    EXPECT_EQ(own.name, "hopper");
    EXPECT_EQ(own.latency_integer_cycles.value, 7);
    EXPECT_EQ(own.latency_integer_cycles.source, "estimated: a thought");
    EXPECT_EQ(own.gap_tensor_cycles.value, named("hopper").gap_tensor_cycles.value);

    json["values"]["latency_integer_cycles"]["value"] = -7;
    EXPECT_EQ(parse_device(json.dump(), "mine.json").error().text(),
              "mine.json: device.values.latency_integer_cycles.value is below 0");
    json["architecture"] = "hoper";
    EXPECT_THAT(parse_device(json.dump(), "mine.json").error().text(),
                HasSubstr("device.architecture is none of ampere, fermi, hopper,"));
}

}  // namespace
}  // namespace trimtab::model
