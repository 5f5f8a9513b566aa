// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/base/temporary_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "core/base/interruption.h"

namespace trimtab::base {

std::expected<TemporaryFolder, Error> TemporaryFolder::make() {
    const char* place = secure_getenv("TMPDIR");
    if (place == nullptr || *place == '\0') place = "/tmp";
    Text path(strdup(fmt::format("{}/trimtab-XXXXXX", place).c_str()));
    const SignalsHeldBack held_back;
    if (mkdtemp(path.get()) == nullptr)
        return std::unexpected(Error{
            .message = fmt::format("no temporary folder can be made here: {} (TMPDIR names another place)",
                                   std::strerror(errno)),
            .file = place});
    remove_if_interrupted(path.get());
    return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
    if (!path_) return;
    remove_tree(path_.get());
    forget_folder(path_.get());
}

}  // namespace trimtab::base
