// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a source line says, where the source can be read.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace trimtab::tools {

class SourceText {
  public:
    // "gemm.cu:14" to that line without its indentation; empty where it cannot be had.
    [[nodiscard]] std::string at(const std::string& place);

  private:
    std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace trimtab::tools
