// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// seal_module LIBRARY FILE: puts a library of the test's own into the cache, as `trimtab prepare` would.
#include <cstdio>
#include <filesystem>

#include "choosing/modules/module_cache.h"

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const std::filesystem::path target = argv[2];
    const std::string name = target.filename().string();
    const trimtab::choosing::ModuleCache cache(target.parent_path().string());
    const auto added = cache.add(name.substr(0, name.find('-')), argv[1]);
    if (!added) std::puts(added.error().text().c_str());
    return added ? 0 : 1;
}
