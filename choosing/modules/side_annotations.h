// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TRIMTAB_ANNOTATIONS: annotations of kernels beside their source, for this run.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "choosing/log.h"

namespace trimtab::choosing {

class SideAnnotations {
  public:
    // `path` empty: there are none. A file that cannot be read is one warning, and none.
    SideAnnotations(const std::string& path, Log& log);

    [[nodiscard]] bool is_on() const { return !kernels_.empty(); }
    [[nodiscard]] bool names(std::string_view kernel) const { return kernels_.contains(kernel); }
    [[nodiscard]] const std::string& path() const { return path_; }  // absolute
    // Of a module whose kernels are prepared as they say; the module's own without any.
    [[nodiscard]] std::string hash_of_module(const std::string& hash) const;

  private:
    std::string path_, content_;
    std::set<std::string, std::less<>> kernels_;
};

}  // namespace trimtab::choosing
