// Compiled objects on disk, one file each: $XDG_CACHE_HOME/trimtab/code/<key>.o.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trimtab::emulator::jit {

class CodeCache {
  public:
    // Where the environment says; nowhere (nothing is kept) if there is no home either.
    [[nodiscard]] static CodeCache of_environment();
    explicit CodeCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // Files that are damaged are not there.
    [[nodiscard]] std::optional<std::vector<std::byte>> find(const std::string& key) const;
    // Failures are nobody's business: it is compiled again next time.
    void keep(const std::string& key, std::span<const std::byte> object) const;

  private:
    [[nodiscard]] std::filesystem::path file(const std::string& key) const;
    std::filesystem::path folder_;  // empty: nothing is kept
};

// 16 hex digits of this processor's model and features: what code may be made for.
[[nodiscard]] const std::string& processor_hash();

}  // namespace trimtab::emulator::jit
