// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/performance_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/base/nearest_name.h"
#include "core/model/device_fields.h"
#include "core/model/gpuperf.h"
#include "core/model/gpuperf_equations.h"
#include "core/model/hong_kim.h"
#include "core/model/sector_sum.h"
#include "core/model/trimtab_model.h"

namespace trimtab::model {

namespace {

// A new model: its file, one line here.
struct ModelEntry {
    std::string_view name;
    RationalProgram (*build)();
};
constexpr ModelEntry model_table[] = {
    {"trimtab", [] { return build_trimtab_model(); }},
    {"gpuperf", build_gpuperf},
    {"hong-kim", build_hong_kim},
    {"sectors", build_sector_sum},
};

double component(const trimtab_dim3& dim, char axis) {
    if (axis == 'x') return dim.x;
    return axis == 'y' ? dim.y : dim.z;
}

double input_value(std::string_view name, const trimtab_device& device, const trimtab_image& image,
                   const Launch& launch) {
    const std::size_t dot = name.find('.');
    const std::string_view group = name.substr(0, dot);
    const std::string_view field = dot == std::string_view::npos ? "" : name.substr(dot + 1);
    if (group == "device") {
        if (field == "compute_capability") return device.compute_capability;
        // A search asks for every block of a launch: some hundred times as many names.
        static const auto members = [] {
            std::unordered_map<std::string_view, double trimtab_device::*> map;
            for (const DeviceField& known : device_fields()) map.emplace(known.name, known.member);
            return map;
        }();
        const auto found = members.find(field);
        if (found != members.end()) return device.*found->second;
    } else if (group == "image") {
        for (const ImageField& known : image_fields())
            if (known.name == field) return image.*known.member;
    } else if (field.size() == 1 && field[0] >= 'x' && field[0] <= 'z') {
        if (group == "block") return component(launch.block, field[0]);
        if (group == "extent") return component(launch.extent, field[0]);
        if (group == "grid")
            return std::ceil(component(launch.extent, field[0]) / component(launch.block, field[0]));
    } else if (name == "dynamic_shared_bytes") {
        return launch.dynamic_shared_bytes;
    }
    return std::nan("");
}

}  // namespace

const std::vector<std::string_view>& performance_model_names() {
    static const std::vector<std::string_view> names = [] {
        std::vector<std::string_view> list;
        for (const ModelEntry& entry : model_table) list.push_back(entry.name);
        return list;
    }();
    return names;
}

std::expected<const RationalProgram*, Error> performance_model(std::string_view name) {
    static const std::vector<RationalProgram> programs = [] {
        std::vector<RationalProgram> list;
        for (const ModelEntry& entry : model_table) list.push_back(entry.build());
        list.push_back(build_gpuperf_benefits());
        for (const NamedTerm& term : trimtab_terms()) {
            TrimtabTerms terms;
            terms.*term.member = false;
            list.push_back(build_trimtab_model(terms));
        }
        return list;
    }();
    const auto found = std::ranges::find(programs, name, &RationalProgram::name);
    if (found != programs.end()) return &*found;
    return std::unexpected(Error{.message = fmt::format("performance model \"{}\" is not known{}", name,
                                                        base::suggestion(name, performance_model_names()))});
}

std::vector<double> input_values(const RationalProgram& program, const trimtab_device& device,
                                 const trimtab_image& image, const Launch& launch) {
    std::vector<double> values;
    values.reserve(program.inputs.size());
    for (const std::string& name : program.inputs) values.push_back(input_value(name, device, image, launch));
    return values;
}

}  // namespace trimtab::model
