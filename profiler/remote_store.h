// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A store beside the local one that many machines share. It is never waited for past a bound, and nothing that happens
// to it fails a build: what it does not answer is not there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trimtab::profiler {

class RemoteStore {
  public:
    RemoteStore() = default;
    virtual ~RemoteStore() = default;
    RemoteStore(const RemoteStore&) = delete;
    RemoteStore& operator=(const RemoteStore&) = delete;

    // What was put there by somebody who is trusted.
    [[nodiscard]] virtual std::optional<std::string> get(std::string_view kind, std::string_view key) = 0;
    // Does not wait.
    virtual void put(std::string_view kind, std::string_view key, std::string_view value) = 0;

    enum class Claim : std::uint8_t {
        mine,    // nobody else is making it, and others will wait while this one does
        others,  // somebody is: it may come soon
        unknown  // the store does not answer
    };
    [[nodiscard]] virtual Claim claim(std::string_view kind, std::string_view key) = 0;
    // After the put, where there is one.
    virtual void release(std::string_view kind, std::string_view key) = 0;
    // How long others' work may be waited for, in all.
    [[nodiscard]] virtual double patience_s() const = 0;
};

}  // namespace trimtab::profiler
