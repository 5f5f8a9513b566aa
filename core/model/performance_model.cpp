// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/model/performance_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "core/base/nearest_name.h"
#include "core/model/architecture_fields.h"
#include "core/model/device_fields.h"
#include "core/model/gpuperf.h"
#include "core/model/mwp_cwp.h"
#include "core/model/sector_sum.h"
#include "core/model/trimtab_model.h"
#include "core/model/waves_model.h"

namespace trimtab::model {

namespace {

// A new model: its file, one line here.
struct ModelEntry {
    std::string_view name;
    RationalProgram (*build)();
};
constexpr ModelEntry model_table[] = {
    {"trimtab", [] { return build_trimtab_model(); }},
    {"mwp-cwp", build_mwp_cwp},
    {"gpuperf", build_gpuperf},
    {"waves", build_waves_model},
    {"sectors", build_sector_sum},
};

// Built when it is first asked for: a compile needs one of them.
struct KnownModel {
    KnownModel(std::string of, std::function<RationalProgram()> by)
        : name(std::move(of)), build(std::move(by)) {}

    std::string name;
    std::function<RationalProgram()> build;
    std::once_flag once{};
    RationalProgram program{};
};

std::deque<KnownModel> known_models() {
    std::deque<KnownModel> models;
    for (const ModelEntry& entry : model_table) models.emplace_back(std::string(entry.name), entry.build);
    models.emplace_back("gpuperf-benefits", build_gpuperf_benefits);
    for (const NamedTerm& term : trimtab_terms()) {
        TrimtabTerms terms;
        terms.*term.member = false;
        models.emplace_back("trimtab-without-" + std::string(term.name),
                            [terms] { return build_trimtab_model(terms); });
    }
    return models;
}

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
    static std::deque<KnownModel> models = known_models();
    const auto found = std::ranges::find(models, name, &KnownModel::name);
    if (found != models.end()) {
        std::call_once(found->once, [&] { found->program = found->build(); });
        return &found->program;
    }
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

std::vector<double> input_values(const RationalProgram& program, const Device& device,
                                 const trimtab_image& image, const Launch& launch) {
    std::vector<double> values = input_values(program, device.values, image, launch);
    constexpr std::string_view group = "architecture.";
    std::optional<Architecture> architecture;
    for (std::size_t i = 0; i < program.inputs.size(); ++i) {
        if (!program.inputs[i].starts_with(group)) continue;
        if (!architecture) architecture = architecture_of(device);
        for (const ArchitectureField& known : architecture_fields())
            if (known.name == std::string_view(program.inputs[i]).substr(group.size()))
                values[i] = ((*architecture).*known.member).value;
    }
    return values;
}

}  // namespace trimtab::model
