// Outputs: one checksum over all result arrays of a run, and their bytes in a file if wanted.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace sample {

class Outputs {
  public:
    // An empty path: checksum only. A path that cannot be written ends the program with exit status 2.
    explicit Outputs(const std::string& dump_path) : dump_path_(dump_path) {
        if (dump_path_.empty()) return;
        file_ = std::fopen(dump_path_.c_str(), "wb");
        if (file_ == nullptr) fail();
    }
    Outputs(const Outputs&) = delete;
    Outputs& operator=(const Outputs&) = delete;
    ~Outputs() {
        if (file_ != nullptr) std::fclose(file_);
    }

    template <typename T>
    void add(const std::vector<T>& array) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(array.data());
        const std::size_t count = array.size() * sizeof(T);
        for (std::size_t i = 0; i < count; ++i) hash_ = (hash_ ^ bytes[i]) * 0x100000001b3u;
        if (file_ != nullptr && std::fwrite(bytes, 1, count, file_) != count) fail();
    }

    void print() {
        if (file_ != nullptr) {
            const bool written = std::fclose(file_) == 0;
            file_ = nullptr;
            if (!written) fail();
        }
        std::printf("checksum %016llx\n", static_cast<unsigned long long>(hash_));
    }

  private:
    [[noreturn]] void fail() const {
        std::fprintf(stderr, "%s: cannot write the dump\n", dump_path_.c_str());
        std::exit(2);
    }

    std::string dump_path_;
    std::FILE* file_ = nullptr;
    std::uint64_t hash_ = 0xcbf29ce484222325u;  // 64-bit FNV-1a
};

}  // namespace sample
