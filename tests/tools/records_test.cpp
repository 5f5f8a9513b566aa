// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/records.h"

#include <gmock/gmock.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "trimtab/section.h"

namespace trimtab::tools {
namespace {

using testing::HasSubstr;
using PlainJson = nlohmann::json;

analysis::KernelDescription description(std::string name) {
    analysis::KernelDescription kernel;
    kernel.id = "0123456789abcdef";
    kernel.demangled = name + "(int)";
    kernel.name = std::move(name);
    kernel.images.push_back({.architecture = "sm_75",
                             .registers = 24,
                             .registers_from = "ptxas sm_75",
                             .shared_bytes = 0,
                             .local_bytes = 0,
                             .max_threads = 0});
    kernel.verdict = analysis::Verdict::fixed;
    kernel.reasons.push_back({.rule = 2, .source = "a.cu:3", .text = "reads shared memory"});
    return kernel;
}

PlainJson record(const std::string& kernel) {
    return {{"abi", record_abi},
            {"compiler", "trimtab++ 0.1.0"},
            {"input", kernel + ".cu"},
            {"fat_binary", "00000000000000aa"},
            {"kernels", PlainJson::array({{{"description", analysis::to_json(description(kernel))}}})}};
}

std::vector<std::byte> framed(const PlainJson& json) {
    const std::string text = json.dump();
    std::vector<std::byte> bytes(24 + (text.size() + 7) / 8 * 8);
    std::memcpy(bytes.data(), record_magic, 8);
    const std::uint64_t length = text.size();
    std::memcpy(bytes.data() + 8, &length, 8);
    std::memcpy(bytes.data() + 24, text.data(), text.size());
    return bytes;
}

std::vector<std::byte> two_records() {
    std::vector<std::byte> section = framed(record("one"));
    section.resize(section.size() + 24);  // a linker's padding
    const auto second = framed(record("two"));
    section.insert(section.end(), second.begin(), second.end());
    return section;
}

std::string error_of(const std::vector<std::byte>& section) {
    const auto records = read_records(section, "a.out");
    return records ? "" : records.error().text();
}

TEST(Records, AreReadEndToEnd) {
    const auto records = read_records(two_records(), "a.out");
    ASSERT_TRUE(records) << records.error().text();
    ASSERT_EQ(records->size(), 2u);
    EXPECT_EQ((*records)[0].input, "one.cu");
    EXPECT_EQ((*records)[0].compiler, "trimtab++ 0.1.0");
    EXPECT_EQ((*records)[1].fat_binary, "00000000000000aa");
    ASSERT_EQ((*records)[1].kernels.size(), 1u);
    const KernelRecord& kernel = (*records)[1].kernels[0];
    EXPECT_EQ(kernel.description.name, "two");
    EXPECT_EQ(kernel.description.reasons[0].text, "reads shared memory");
    EXPECT_FALSE(kernel.profile || kernel.fits);
    EXPECT_TRUE(kernel.driver_source.empty());
    EXPECT_TRUE(read_records({}, "a.out")->empty());
}

TEST(Records, DamageIsOneLineWithTheByte) {
    const std::size_t second = framed(record("one")).size() + 24;

    std::vector<std::byte> broken = two_records();
    broken[second] = std::byte{'x'};
    EXPECT_EQ(error_of(broken),
              "a.out: section trimtab_data, byte " + std::to_string(second) + ": no record begins here");
    broken = two_records();
    broken[second + 15] = std::byte{0xff};
    EXPECT_THAT(error_of(broken), HasSubstr("the record says"));
    broken = two_records();
    broken[28] = std::byte{0xff};
    EXPECT_THAT(error_of(broken),
                HasSubstr("byte 0: the record is no JSON object: line 1, column 5: not valid JSON"));
    broken = two_records();
    broken[7] = std::byte{'1'};
    EXPECT_THAT(error_of(broken), HasSubstr("byte 0: the record is of another version"));
    EXPECT_THAT(error_of(framed({{"abi", 7}})), HasSubstr("another version"));
    EXPECT_THAT(error_of(framed({{"abi", record_abi}})), HasSubstr("record has no member \"kernels\""));
    EXPECT_THAT(error_of(framed({{"abi", record_abi}, {"kernels", {5}}})),
                HasSubstr("record.kernels[0] is not an object"));
    EXPECT_THAT(error_of(framed({{"abi", record_abi}, {"kernels", {PlainJson::object()}}})),
                HasSubstr("record.kernels[0] has no member \"description\""));
}

TEST(Records, CutAnywhereIsAnErrorAndNoCrash) {
    const std::vector<std::byte> section = two_records();
    const std::size_t first = framed(record("one")).size();
    for (std::size_t length = 0; length < section.size(); ++length) {
        const auto records = read_records(std::span(section).first(length), "a.out");
        const bool whole = length == 0 || (length >= first && length <= first + 24);
        // The last record's padding may be missing.
        if (records && !whole) EXPECT_GT(length + 8, length < first ? first : section.size());
        if (!records) EXPECT_THAT(records.error().text(), HasSubstr("a.out"));
    }
}

}  // namespace
}  // namespace trimtab::tools
