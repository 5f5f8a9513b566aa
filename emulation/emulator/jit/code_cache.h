// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled objects on disk, one file each: $XDG_CACHE_HOME/trimtab/code/<key>.o, sealed (core/base/kept_file.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trimtab::emulator::jit {

class CodeCache {
  public:
    struct Limits {
        std::size_t files = 20'000;
        std::uint64_t bytes = std::uint64_t{1} << 30;
    };
    // Where the environment says; nowhere (nothing is kept) if there is no home either.
    [[nodiscard]] static CodeCache of_environment();
    explicit CodeCache(std::string folder, Limits limits) : folder_(std::move(folder)), limits_(limits) {}

    // Files that are damaged, or that others may write to, are not there.
    [[nodiscard]] std::optional<std::vector<std::byte>> find(const std::string& key) const;
    // Failures are nobody's business: it is compiled again next time.
    void keep(const std::string& key, std::span<const std::byte> object) const;
    // Down to the limits, from the object that was used longest ago; keep() does it every now and then.
    void prune() const;

  private:
    [[nodiscard]] std::string file(const std::string& key) const { return folder_ + "/" + key + ".o"; }
    std::string folder_;  // empty: nothing is kept
    Limits limits_;
};

// 16 hex digits of this processor's model and features: what code may be made for.
[[nodiscard]] const std::string& processor_hash();

}  // namespace trimtab::emulator::jit
