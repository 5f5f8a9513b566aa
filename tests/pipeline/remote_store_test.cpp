// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The store that several machines share, against a Redis that is there, is not, hangs, and holds what others put there.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "pipeline/remote/redis_store.h"
#include "pipeline/remote/sealed_entry.h"
#include "profiler/store.h"
#include "tests/pipeline/redis_server.h"

namespace trimtab::remote {
namespace {

using profiler::RemoteStore;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string secret = "a secret of the team";

TEST(SealedEntry, OnlyWhoHasTheSecretMakesOneForItsKey) {
    const std::string value = std::string("a profile\0", 10) + std::string(5000, 'x');
    const std::string entry = seal(secret, "profile", "k1", value);
    EXPECT_LT(entry.size(), value.size());
    EXPECT_EQ(unseal(secret, "profile", "k1", entry).value(), value);
    EXPECT_FALSE(unseal("a secret of others", "profile", "k1", entry));
    EXPECT_FALSE(unseal(secret, "profile", "k2", entry));
    EXPECT_FALSE(unseal(secret, "failure", "k1", entry));
    // Kind and key are apart: "ab" + "c" is not "a" + "bc".
    EXPECT_FALSE(unseal(secret, "profilek", "1", entry));
    EXPECT_NE(entry_name(secret, "ab", "c"), entry_name(secret, "a", "bc"));
    EXPECT_EQ(entry_name(secret, "ab", "c").size(), 64U);
    for (std::size_t cut = 0; cut < entry.size(); ++cut)
        ASSERT_FALSE(unseal(secret, "profile", "k1", entry.substr(0, cut))) << cut;
    for (std::size_t at = 0; at < entry.size(); ++at)
        for (int bit = 0; bit < 8; ++bit) {
            std::string flipped = entry;
            flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
            ASSERT_FALSE(unseal(secret, "profile", "k1", flipped)) << at << ' ' << bit;
        }
}

TEST(Secret, IsReadFromAFileThatIsTheUsersAlone) {
    const std::string path = testing::TempDir() + "/secret-" + std::to_string(getpid());
    std::ofstream(path) << secret << "\n";
    chmod(path.c_str(), 0600);
    EXPECT_EQ(read_secret(path).value(), secret);
    chmod(path.c_str(), 0644);
    EXPECT_THAT(read_secret(path).error().text(), HasSubstr("others may read it"));
    chmod(path.c_str(), 0600);
    std::ofstream(path) << "short";
    EXPECT_THAT(read_secret(path).error().text(), HasSubstr("16 are the least"));
    std::filesystem::remove(path);
    EXPECT_FALSE(read_secret(path));
    EXPECT_FALSE(read_secret(testing::TempDir()));
}

TEST(RedisUrl, NamesHostPortUserAndDatabase) {
    const auto whole = read_redis_url("redis://ann:se:cret@cache.example:7000/3");
    ASSERT_TRUE(whole);
    EXPECT_EQ(whole->user, "ann");
    EXPECT_EQ(whole->password, "se:cret");
    EXPECT_EQ(whole->host, "cache.example");
    EXPECT_EQ(whole->port, 7000);
    EXPECT_EQ(whole->database, 3);
    EXPECT_EQ(read_redis_url("redis://[::1]:7000")->host, "::1");
    EXPECT_EQ(read_redis_url("redis://:secret@h")->password, "secret");
    EXPECT_EQ(read_redis_url("redis://h")->port, 6379);
    for (const char* url : {"", "redis://", "http://h", "redis://h:x", "redis://h:0", "redis://h:65536",
                            "redis://h/x", "redis://[::1", "redis://user@"})
        EXPECT_FALSE(read_redis_url(url)) << url;
}

class Redis : public testing::Test {
  protected:
    // As another process, or another machine, has it.
    std::unique_ptr<RemoteStore> open(const std::string& with_secret = secret, int answer_ms = 60'000) {
        RedisOptions options;
        options.host = "127.0.0.1";
        options.port = server_.port();
        options.secret = with_secret;
        options.answer = options.farewell = std::chrono::milliseconds(answer_ms);
        return make_redis_store(std::move(options),
                                [this](const std::string& text) { warnings_.push_back(text); });
    }
    tests::RedisServer server_;
    std::vector<std::string> warnings_;
};

TEST_F(Redis, WhatOnePutsAnotherGets) {
    const std::string value(300'000, 'v');
    auto one = open();
    EXPECT_EQ(one->get("profile", "k"), std::nullopt);
    one->put("profile", "k", value);
    EXPECT_EQ(one->get("profile", "k"), value);
    EXPECT_EQ(open()->get("profile", "k"), value);
    EXPECT_EQ(open("a secret of other people")->get("profile", "k"), std::nullopt);
    EXPECT_THAT(warnings_, IsEmpty());
    // It is written to the end when the store is closed at once.
    open()->put("profile", "later", value);
    EXPECT_EQ(one->get("profile", "later"), value);
    // Nothing of the key is told, and all goes by itself some day.
    EXPECT_THAT(server_.ask("KEYS *"), testing::Not(HasSubstr("profile")));
    EXPECT_GT(std::stol(server_.ask("TTL trimtab:1:" + entry_name(secret, "profile", "k"))), 1'000'000);
}

TEST_F(Redis, PoisonedEntriesAreRefused) {
    const std::string place = "trimtab:1:" + entry_name(secret, "bundle object", "k");
    auto store = open();
    store->put("bundle object", "other", "code");
    ASSERT_EQ(store->get("bundle object", "other"), "code");
    EXPECT_EQ(server_.ask("SET " + place + " evil-code"), "OK");
    EXPECT_EQ(store->get("bundle object", "k"), std::nullopt);
    // Another's entry, as it is, in its place; and one that somebody else has signed.
    EXPECT_EQ(server_.ask("COPY trimtab:1:" + entry_name(secret, "bundle object", "other") + " " + place +
                          " REPLACE"),
              "1");
    EXPECT_EQ(store->get("bundle object", "k"), std::nullopt);
    EXPECT_EQ(open("a secret of the attackers")->get("bundle object", "k"), std::nullopt);
    EXPECT_THAT(warnings_, ElementsAre(HasSubstr("is no entry of Trimtab's")));  // once
    // The next put mends it.
    store->put("bundle object", "k", "good");
    EXPECT_EQ(store->get("bundle object", "k"), "good");
}

TEST_F(Redis, OneClaimsAndOthersSeeIt) {
    auto one = open(), other = open();
    EXPECT_EQ(one->claim("profile", "k"), RemoteStore::Claim::mine);
    EXPECT_EQ(other->claim("profile", "k"), RemoteStore::Claim::others);
    EXPECT_EQ(other->claim("profile", "k2"), RemoteStore::Claim::mine);
    // Who has no claim gives up nobody's.
    other->release("profile", "k");
    EXPECT_EQ(other->claim("profile", "k"), RemoteStore::Claim::others);
    one->put("profile", "k", "value");
    one->release("profile", "k");
    EXPECT_EQ(one->get("profile", "k"), "value");
    EXPECT_EQ(other->claim("profile", "k"), RemoteStore::Claim::mine);
    // It goes by itself when its owner does.
    EXPECT_LE(std::stol(server_.ask("PTTL trimtab:1:claim:" + entry_name(secret, "profile", "k"))), 10'000);
}

TEST_F(Redis, AServerThatHangsIsAskedNoMore) {
    auto store = open(secret, 300);
    store->put("profile", "k", "value");
    server_.signal(SIGSTOP);
    EXPECT_EQ(store->get("profile", "k"), std::nullopt);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(store->get("profile", "k"), std::nullopt);
    EXPECT_EQ(store->claim("profile", "k"), RemoteStore::Claim::unknown);
    store->put("profile", "k", "value");
    store.reset();
    server_.signal(SIGCONT);
    EXPECT_THAT(warnings_, ElementsAre(HasSubstr("this goes on without it")));
}

TEST_F(Redis, AServerThatGoesAwayOrAsksForAPasswordIsDoneWithout) {
    auto store = open();
    store->put("profile", "k", "value");
    ASSERT_EQ(store->get("profile", "k"), "value");
    server_.stop();
    EXPECT_EQ(store->get("profile", "k"), std::nullopt);
    EXPECT_THAT(warnings_, ElementsAre(HasSubstr("this goes on without it")));
    warnings_.clear();
    EXPECT_EQ(open()->get("profile", "k"), std::nullopt);
    EXPECT_THAT(warnings_, ElementsAre(HasSubstr("Connection refused")));

    const tests::RedisServer closed;
    ASSERT_EQ(closed.ask("CONFIG SET requirepass open-sesame"), "OK");
    warnings_.clear();
    RedisOptions options;
    options.host = "127.0.0.1";
    options.port = closed.port();
    options.secret = secret;
    const auto warn = [this](const std::string& text) { warnings_.push_back(text); };
    EXPECT_EQ(make_redis_store(options, warn)->get("profile", "k"), std::nullopt);
    EXPECT_THAT(warnings_, ElementsAre(HasSubstr("NOAUTH")));
    options.password = "open-sesame";
    auto let_in = make_redis_store(options, warn);
    let_in->put("profile", "k", "value");
    EXPECT_EQ(let_in->get("profile", "k"), "value");
}

TEST_F(Redis, ALocalStoreReadsThroughAndWritesBehind) {
    const std::string folder = testing::TempDir() + "/shared-" + std::to_string(getpid());
    const auto warn = [this](const std::string& text) { warnings_.push_back(text); };
    {
        profiler::ProfileStore here(folder + "/here.sqlite", warn, open());
        here.put_blob("fits", "k", "value");
    }
    {
        profiler::ProfileStore there(folder + "/there.sqlite", warn, open());
        EXPECT_EQ(there.blob("fits", "k"), "value");
    }
    server_.stop();
    // It is the user's own now.
    EXPECT_EQ(profiler::ProfileStore(folder + "/there.sqlite", warn).blob("fits", "k"), "value");
    EXPECT_THAT(warnings_, IsEmpty());
    std::filesystem::remove_all(folder);
}

TEST(StoreOfEnvironment, WithoutAKeyNoStoreIsTrusted) {
    std::vector<std::string> warnings;
    const auto warn = [&](const std::string& text) { warnings.push_back(text); };
    unsetenv("TRIMTAB_STORE");
    EXPECT_EQ(store_of_environment(warn), nullptr);
    EXPECT_THAT(warnings, IsEmpty());
    setenv("TRIMTAB_STORE", "redis://127.0.0.1:1", 1);
    unsetenv("TRIMTAB_STORE_KEY");
    EXPECT_EQ(store_of_environment(warn), nullptr);
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("TRIMTAB_STORE_KEY names no file")));
    setenv("TRIMTAB_STORE", "memcached://x", 1);
    EXPECT_EQ(store_of_environment(warn), nullptr);
    EXPECT_THAT(warnings.back(), HasSubstr("TRIMTAB_STORE: wants redis://"));
    unsetenv("TRIMTAB_STORE");
}

}  // namespace
}  // namespace trimtab::remote
