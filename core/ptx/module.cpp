// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/module.h"

#include <algorithm>
#include <set>

namespace trimtab::ptx {
namespace {

template <class Item>
const Item* find_named(const std::vector<Item>& items, std::string_view name) {
    const auto at =
        std::find_if(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
    return at == items.end() ? nullptr : &*at;
}

}  // namespace

const Variable* Function::parameter(std::string_view wanted) const {
    return find_named(parameters, wanted);
}
const Variable* Function::variable(std::string_view wanted) const {
    return find_named(variables, wanted);
}

std::uint32_t Function::parameter_bytes() const {
    std::uint64_t end = 0;
    for (const Variable& parameter : parameters) {
        end = std::max(end, std::uint64_t{parameter.offset_bytes} + parameter.size_bytes);
    }
    return static_cast<std::uint32_t>(end);
}

const Function* Module::function(std::string_view wanted) const {
    return find_named(functions, wanted);
}
const Variable* Module::variable(std::string_view wanted) const {
    return find_named(variables, wanted);
}

std::vector<const Function*> Module::kernels() const {
    std::vector<const Function*> out;
    for (const Function& function : functions) {
        if (function.is_entry) out.push_back(&function);
    }
    return out;
}

std::string Module::source_text(const SourceLocation& location) const {
    const auto file = files.find(location.file);
    if (file == files.end() || location.line == 0) return {};
    // Clang writes "./gemm.cu" for what it was given as "gemm.cu".
    std::string_view name = file->second;
    while (name.starts_with("./")) name.remove_prefix(2);
    return std::string(name) + ":" + std::to_string(location.line);
}

}  // namespace trimtab::ptx
