// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A folder of this process alone, gone with the object, or with the process where a signal ends that.
#pragma once

#include <cstdlib>
#include <expected>
#include <memory>
#include <string>

#include "trimtab/error.h"

namespace trimtab::base {

class TemporaryFolder {
  public:
    // In $TMPDIR, or /tmp without it. The error names that folder and what is wrong with it.
    [[nodiscard]] static std::expected<TemporaryFolder, Error> make();
    TemporaryFolder(TemporaryFolder&&) noexcept = default;
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    ~TemporaryFolder();

    [[nodiscard]] std::string path() const { return path_.get(); }
    [[nodiscard]] std::string file(const std::string& name) const { return path() + "/" + name; }

  private:
    struct Free {
        void operator()(char* text) const { std::free(text); }
    };
    using Text = std::unique_ptr<char, Free>;  // stays where it is when the object is moved
    explicit TemporaryFolder(Text path) : path_(std::move(path)) {}
    Text path_;
};

}  // namespace trimtab::base
