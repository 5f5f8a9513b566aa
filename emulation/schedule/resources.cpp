// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/schedule/resources.h"

#include <algorithm>

namespace trimtab::schedule {

namespace {

constexpr std::array<std::string_view, resource_count> resource_names = {
    "fp32",   "fp64",    "fp16",       "integer",    "conversion", "special_function", "tensor",
    "branch", "barrier", "collective", "load_store", "shared",     "constant",         "texture",
    "l1",     "l2",      "dram",       "atomic",     "issue"};
constexpr std::array<std::string_view, 3> policy_names = {"gto", "rr", "lrr"};

template <class Enum, std::size_t size>
std::optional<Enum> named(const std::array<std::string_view, size>& names, std::string_view name) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view name(Resource resource) {
    return resource_names[index(resource)];
}
std::optional<Resource> resource_named(std::string_view name) {
    return named<Resource>(resource_names, name);
}
std::string_view name(Policy policy) {
    return policy_names[static_cast<std::size_t>(policy)];
}
std::optional<Policy> policy_named(std::string_view name) {
    return named<Policy>(policy_names, name);
}

}  // namespace trimtab::schedule
