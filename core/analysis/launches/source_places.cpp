// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/launches/source_places.h"

#include <fmt/format.h>

#include "core/base/user_file.h"

namespace trimtab::analysis {

bool is_user_source(const ptx::Module& module, const ptx::SourceLocation& location) {
    const auto file = module.files.find(location.file);
    if (file == module.files.end() || location.line == 0) return false;
    return base::is_user_file(file->second);
}

std::string source_of(const ptx::Module& module, const ptx::Function& function, std::uint32_t instruction) {
    const auto& body = function.body;
    // Code that comes from a compiler's own header stands between lines of the user's.
    for (std::uint32_t away = 0; away < body.size(); away++) {
        if (away <= instruction && is_user_source(module, body[instruction - away].location))
            return module.source_text(body[instruction - away].location);
        if (instruction + away < body.size() && is_user_source(module, body[instruction + away].location))
            return module.source_text(body[instruction + away].location);
    }
    std::string text = module.source_text(body[instruction].location);
    return text.empty() ? fmt::format("ptx:{}", body[instruction].line) : text;
}

}  // namespace trimtab::analysis
