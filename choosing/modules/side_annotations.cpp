// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/modules/side_annotations.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "choosing/modules/module_cache.h"
#include "core/analysis/annotations/annotation_file.h"
#include "core/base/read_text.h"

namespace trimtab::choosing {

SideAnnotations::SideAnnotations(const std::string& path, Log& log) {
    if (path.empty()) return;
    std::error_code error;
    path_ = std::filesystem::absolute(path, error).string();
    auto content = base::read_text(path);
    if (content) content_ = std::move(*content);
    const auto annotations = content ? analysis::parse_annotation_file(content_, path)
                                     : std::unexpected(Error{.message = "cannot be read", .file = path});
    if (!annotations) {
        log.warn(fmt::format("TRIMTAB_ANNOTATIONS: {}: no annotation is taken", annotations.error().text()));
        return;
    }
    for (const analysis::KernelAnnotation& annotation : *annotations) kernels_.insert(annotation.kernel);
}

std::string SideAnnotations::hash_of_module(const std::string& hash) const {
    return is_on() ? annotated_hash(hash, content_) : hash;
}

}  // namespace trimtab::choosing
