// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The programs behind a measured table, taken through Trimtab's whole path: compiled by trimtab++, described,
// profiled at small sizes on the emulator, fitted.
#pragma once

#include <expected>
#include <map>
#include <string>
#include <vector>

#include "tools/trimtab/kernel_file.h"
#include "trimtab/error.h"

namespace trimtab::bench {

struct ProgramOptions {
    std::string compiler;      // trimtab++
    std::string cache_folder;  // objects, by source and compiler
    std::string built_folder;  // where not empty: programs that trimtab++ built there, by the source's name
    unsigned threads = 1;
};

class FittedPrograms {
  public:
    // Compiles, profiles and fits what `sources` name (absolute paths), several at a time.
    FittedPrograms(const std::vector<std::string>& sources, const ProgramOptions& options);

    // The kernel of that name (symbol) with its fits; an error says in one line why there are none.
    [[nodiscard]] std::expected<tools::FileKernel*, Error> kernel(const std::string& source,
                                                                  const std::string& symbol);
    [[nodiscard]] double profile_seconds() const { return seconds_; }

  private:
    std::map<std::string, std::expected<tools::KernelFile, Error>> files_;
    std::map<std::pair<std::string, std::string>, Error> failures_;  // (source, mangled name): no fits
    double seconds_ = 0;
};

}  // namespace trimtab::bench
