// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Profiles and compiled driver programs in a Redis that many machines share.
//
// Keys are hashed and values signed with a secret that all of them have (sealed_entry.h): who can write to the server
// and has no secret can take away, and nothing else. All that is said to the server is said by a thread of its own,
// and waited for no longer than `answer`; a server that once did not answer in time is not asked again.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "profiler/remote_store.h"
#include "trimtab/error.h"

namespace trimtab::remote {

struct RedisOptions {
    std::string host, user, password;
    int port = 6379, database = 0;
    std::string secret;
    std::chrono::milliseconds answer{3000},
        farewell{3000};      // for an answer; for what is still to be put at the end
    double patience_s = 60;  // for others' work, in all
};

// "redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]". The error says what is wrong with it.
[[nodiscard]] std::expected<RedisOptions, Error> read_redis_url(std::string_view url);

// `warn` gets what a user should know: that the server does not answer, and entries that are not trusted. It is called by
// the thread that calls the store.
[[nodiscard]] std::unique_ptr<profiler::RemoteStore> make_redis_store(
    RedisOptions options, std::function<void(const std::string& text)> warn);

// What the environment names: TRIMTAB_STORE, TRIMTAB_STORE_KEY, TRIMTAB_STORE_WAIT. Null where it names none, or one that
// cannot be used, which `warn` says.
[[nodiscard]] std::unique_ptr<profiler::RemoteStore> store_of_environment(
    const std::function<void(const std::string& text)>& warn);

}  // namespace trimtab::remote
