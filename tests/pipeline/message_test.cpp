// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/workers/message.h"

#include <gmock/gmock.h>

namespace trimtab::workers {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Message, ComesAsItWentHoweverItIsCut) {
    const std::string body("\0\xff\n PTX", 7);
    const std::string bytes = encode({{"task", 1}, {"x", 0.1}}, body) + encode({{"alive", 0.5}});
    for (std::size_t step : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
        MessageReader reader;
        std::vector<Message> messages;
        for (std::size_t at = 0; at < bytes.size(); at += step) {
            reader.add(std::string_view(bytes).substr(at, step));
            for (;;) {
                auto message = reader.next();
                ASSERT_TRUE(message);
                if (!*message) break;
                messages.push_back(std::move(**message));
            }
        }
        ASSERT_EQ(messages.size(), 2U);
        EXPECT_EQ(messages[0].head, (json{{"task", 1}, {"x", 0.1}}));
        EXPECT_EQ(messages[0].body, body);
        EXPECT_EQ(messages[1].head, (json{{"alive", 0.5}}));
        EXPECT_EQ(messages[1].body, "");
    }
}

TEST(Message, WhatIsNoneIsAnErrorThatShowsIt) {
    MessageReader reader;
    reader.add("slurmstepd: error: no such file\nmore");
    const auto message = reader.next();
    ASSERT_FALSE(message);
    EXPECT_THAT(message.error().text(), HasSubstr("\"slurmstepd: error: no such file\""));
    // From its first byte on.
    MessageReader soon;
    soon.add("\x1b");
    ASSERT_FALSE(soon.next());
}

TEST(Message, LengthsBeyondAllMeasureAreAnError) {
    std::string bytes = encode({{"task", 1}});
    bytes[7] = '\x7f';
    MessageReader head;
    head.add(bytes);
    EXPECT_FALSE(head.next());
    bytes = encode({{"task", 1}});
    bytes[15] = '\x01';
    MessageReader body;
    body.add(bytes);
    EXPECT_FALSE(body.next());
}

TEST(Message, HeadsAreJsonObjects) {
    for (const char* head : {"{\"task\": 1", "[1]", "null", "7", ""}) {
        std::string bytes = encode({});
        bytes.resize(16);
        bytes[4] = static_cast<char>(std::strlen(head));
        MessageReader reader;
        reader.add(bytes + head);
        EXPECT_FALSE(reader.next()) << head;
    }
}

// Every prefix waits or fails; no flipped bit of the prefix crashes or is taken for more than it is.
TEST(Message, FlippedBitsAreFoundOutOrWaitedFor) {
    const std::string whole = encode({{"task", 12}}, "body");
    for (std::size_t at = 0; at < 16; ++at)
        for (int bit = 0; bit < 8; ++bit) {
            std::string bytes = whole;
            bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
            MessageReader reader;
            reader.add(bytes);
            const auto message = reader.next();
            if (message && *message) {
                EXPECT_LE((*message)->body.size(), bytes.size());
            }
        }
}

}  // namespace
}  // namespace trimtab::workers
