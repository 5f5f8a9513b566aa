// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/modules/module_preparation.h"

#include <utility>
#include <vector>

#include "choosing/own_files.h"
#include "core/base/process.h"

namespace trimtab::choosing {
namespace {

// Not what is meant for the program alone.
bool is_for_tools(std::string_view variable) {
    return !variable.starts_with("LD_PRELOAD=") && !variable.starts_with("LD_AUDIT=") &&
           !variable.starts_with("TRIMTAB");
}

}  // namespace

std::string start_preparation(const std::string& source, const std::string& annotations, bool is_waited_for) {
    const std::string program = find_own_program("trimtab");
    if (program.empty()) return "trimtab is neither next to libtrimtab.so nor on PATH";
    std::vector<std::string> words{program, "prepare", is_waited_for ? "--waited-for" : "--background",
                                   "--quiet"};
    if (!annotations.empty()) words.push_back("--annotations=" + annotations);
    words.push_back(source);
    const auto started = base::start_detached({.words = std::move(words)}, is_for_tools);
    return started ? std::string{} : started.error().text();
}

}  // namespace trimtab::choosing
