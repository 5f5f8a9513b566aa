// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/base/json_value.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace trimtab::base {
namespace {

using nlohmann::json;

const json document =
    json::parse(R"({"data": [{"name": "n"}, {"name": 7}], "count": 4294967296, "kind": "cold",
    "degree": -3, "gone": null, "deep": [[1, 2], [3, {"x.y": true}]]})");

template <class Read>
std::string error_of(Read read) {
    const auto result = read_json(document, "fits", "gemm", [&](const JsonValue& value) {
        (void)read(value);
        return 0;
    });
    return result ? "" : result.error().text();
}

TEST(JsonValue, ReadsWhatIsAsDocumented) {
    const auto read = read_json(document, "fits", "gemm", [](const JsonValue& value) {
        EXPECT_EQ(value["data"].list()[0]["name"].text(), "n");
        EXPECT_EQ(value["count"].natural(), 4294967296u);
        EXPECT_EQ(value["kind"].one_of({"hot", "cold"}), 1u);
        EXPECT_EQ(value["degree"].integer(-3, 3), -3);
        EXPECT_TRUE(value["gone"].is_null());
        EXPECT_FALSE(value.find("none"));
        EXPECT_TRUE(value["deep"].list(2)[1].list(2)[1]["x.y"].boolean());
        return 5;
    });
    EXPECT_EQ(read.value(), 5);
}

TEST(JsonValue, SaysWhereTheFirstFaultIs) {
    using V = const JsonValue&;
    EXPECT_EQ(error_of([](V v) { return v["none"]; }), "gemm: fits has no member \"none\"");
    EXPECT_EQ(error_of([](V v) { return v["data"].list()[1]["name"].text(); }),
              "gemm: fits.data[1].name is not a text");
    EXPECT_EQ(error_of([](V v) { return v["deep"].list()[1].list()[1]["x.y"].number(); }),
              "gemm: fits.deep[1][1].x.y is not a number");
    EXPECT_EQ(error_of([](V v) { return v["data"]["name"]; }), "gemm: fits.data is not an object");
    EXPECT_EQ(error_of([](V v) { return v["kind"].list(); }), "gemm: fits.kind is not a list");
    EXPECT_EQ(error_of([](V v) { return v["deep"].list(3); }), "gemm: fits.deep is not a list of 3");
    EXPECT_EQ(error_of([](V v) { return v["count"].count(); }), "gemm: fits.count is above 2^32 - 1");
    EXPECT_EQ(error_of([](V v) { return v["degree"].natural(); }),
              "gemm: fits.degree is not a whole number from 0 on");
    EXPECT_EQ(error_of([](V v) { return v["degree"].integer(0, 9); }),
              "gemm: fits.degree is not a whole number from 0 to 9");
    EXPECT_EQ(error_of([](V v) { return v["count"].integer(0, 9); }),
              "gemm: fits.count is not a whole number from 0 to 9");
    EXPECT_EQ(error_of([](V v) { return v["kind"].one_of({"hot", "warm"}); }),
              "gemm: fits.kind is \"cold\", which is none of hot, warm");
    EXPECT_EQ(error_of([](V v) { return v["data"].list()[0].check_members({"nam"}), 0; }),
              "gemm: fits.data[0] has an unknown member \"name\"; did you mean \"nam\"?");
}

TEST(JsonText, FaultsHaveALineAndAColumn) {
    EXPECT_EQ(parse_json("{\"a\": 1,\n \"b\" 2}", "d.json").error().text(), "d.json:2:6: not valid JSON");
    EXPECT_EQ(parse_json("", "d.json").error().text(), "d.json:1:1: not valid JSON");
    EXPECT_EQ(parse_json("[1e999]", "d.json").error().text(), "d.json: a number is too large for a double");
    EXPECT_EQ(parse_json("[1]", "d.json").value()[0], 1);
}

}  // namespace
}  // namespace trimtab::base
