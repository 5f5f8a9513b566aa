// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/front_end/kernel_json.h"

#include <nlohmann/json.hpp>

namespace trimtab::opencl {

using Json = nlohmann::json;

namespace {

AddressSpace space_of(int number) {
    const bool is_one = number >= 0 && number <= static_cast<int>(AddressSpace::generic);
    return is_one ? static_cast<AddressSpace>(number) : AddressSpace::none;
}

}  // namespace

Json to_json(const KernelInfo& kernel) {
    Json parameters = Json::array();
    for (const KernelParameter& p : kernel.parameters)
        parameters.push_back({p.name, p.type, p.qualifiers, p.access, static_cast<int>(p.space)});
    return {{"name", kernel.name},
            {"parameters", std::move(parameters)},
            {"required_size", kernel.required_size},
            {"size_hint", kernel.size_hint},
            {"vector_hint", kernel.vector_hint}};
}

KernelInfo kernel_from_json(const Json& json) {
    KernelInfo kernel{.name = json.at("name"), .parameters = {}};
    for (const Json& p : json.at("parameters"))
        kernel.parameters.push_back({.name = p.at(0),
                                     .type = p.at(1),
                                     .qualifiers = p.at(2),
                                     .access = p.at(3),
                                     .space = space_of(p.at(4).get<int>())});
    json.at("required_size").get_to(kernel.required_size);
    json.at("size_hint").get_to(kernel.size_hint);
    json.at("vector_hint").get_to(kernel.vector_hint);
    return kernel;
}

}  // namespace trimtab::opencl
