// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/launches/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "trimtab/body_name.h"

namespace trimtab::analysis {

std::string demangle(const std::string& name) {
    if (const auto body = read_body_name(name))
        return readable_body_name(demangle(std::string(body->kernel)), *body);
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? std::string(text.get()) : name;
}

}  // namespace trimtab::analysis
