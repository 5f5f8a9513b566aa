// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel description as JSON (docs/description.schema.json).
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/analysis/launches/description.h"
#include "core/analysis/launches/expression_json.h"
#include "core/analysis/launches/operation.h"
#include "core/base/json_value.h"
#include "core/model/launch_configuration.h"

namespace trimtab::analysis {
namespace {

using base::JsonValue;
using nlohmann::json;

std::string dimension_name(std::size_t dimension) {
    return {model::axis_names[dimension]};
}

json dimension_list(const std::array<bool, 3>& dimensions) {
    json list = json::array();
    for (std::size_t d = 0; d < 3; d++)
        if (dimensions[d]) list.push_back(dimension_name(d));
    return list;
}

constexpr std::array<std::string_view, 4> index_names{"none", "global", "of_total", "in_block"};
constexpr std::array<std::string_view, 4> width_names{"any", "one", "warps", "powers"};

json to_json(const std::array<DimensionUse, 3>& dimensions) {
    json object = json::object();
    for (std::size_t d = 0; d < 3; d++)
        if (dimensions[d].index != Index::none)
            object[dimension_name(d)] = {
                {"index", index_names[static_cast<std::size_t>(dimensions[d].index)]},
                {"block", width_names[static_cast<std::size_t>(dimensions[d].block)]}};
    return object;
}

json to_json(const KernelImage& image) {
    return {{"arch", image.architecture},
            {"registers", image.registers},
            {"registers_from", image.registers_from},
            {"shared_bytes", image.shared_bytes},
            {"local_bytes", image.local_bytes},
            {"max_threads", image.max_threads}};
}

json to_json(const KernelParameter& parameter) {
    json object{{"index", parameter.index},       {"name", parameter.name}, {"offset", parameter.offset},
                {"size", parameter.size},         {"type", parameter.type}, {"ptx_type", parameter.ptx_type},
                {"pointer", parameter.is_pointer}};
    if (parameter.is_pointer) object["pointee"] = parameter.pointee;
    for (const PointerMember& member : parameter.members)
        object["members"].push_back({{"offset", member.offset}, {"pointee", member.pointee}});
    return object;
}

json to_json(const DataParameter& data) {
    json object{{"name", data.name}, {"type", data.type}};
    if (data.is_extent) {
        object["extent"] = dimension_name(static_cast<std::size_t>(data.dimension));
    } else {
        object["param"] = data.parameter;
        object["offset"] = data.offset;
    }
    object["memo"] = !data.in_memo ? "none" : data.coarse_in_memo ? "coarse" : "exact";
    if (data.bounds) object["bounds"] = dimension_name(static_cast<std::size_t>(*data.bounds));
    if (data.divides) object["divides"] = true;
    if (data.counts) object["counts"] = true;
    if (!data.compared.empty()) object["compared"] = data.compared;
    return object;
}

Dimension dimension_from(const JsonValue& value) {
    return static_cast<Dimension>(value.one_of({"x", "y", "z"}));
}

std::array<bool, 3> dimensions_from(const JsonValue& list) {
    std::array<bool, 3> result{};
    for (const JsonValue& name : list.list()) result[static_cast<std::size_t>(dimension_from(name))] = true;
    return result;
}

std::array<DimensionUse, 3> uses_from(const JsonValue& object) {
    std::array<DimensionUse, 3> uses{};
    for (const auto& [name, use] : object.members()) {
        const std::size_t dimension =
            name.size() == 1 ? model::axis_names.find(name) : std::string_view::npos;
        if (dimension == std::string_view::npos)
            object.fail(fmt::format("has \"{}\", which is none of x, y, z", name));
        // Index::none is told by the absence of the member.
        uses[dimension] = {
            static_cast<Index>(1 + use["index"].one_of({index_names.begin() + 1, index_names.end()})),
            static_cast<BlockWidth>(use["block"].one_of({width_names.begin(), width_names.end()}))};
    }
    return uses;
}

Expression predicate_from(const JsonValue& value) {
    Expression expression = expression_from(value);
    if (expression.type != ptx::Type::pred) value.fail("is no predicate");
    return expression;
}

KernelImage image_from(const JsonValue& image) {
    return {.architecture = image["arch"].text(),
            .registers = image["registers"].count(),
            .registers_from = image["registers_from"].text(),
            .shared_bytes = image["shared_bytes"].count(),
            .local_bytes = image["local_bytes"].count(),
            .max_threads = image["max_threads"].count()};
}

KernelParameter parameter_from(const JsonValue& value) {
    KernelParameter parameter{.index = value["index"].count(),
                              .name = value["name"].text(),
                              .offset = value["offset"].count(),
                              .size = value["size"].count(),
                              .type = value["type"].text(),
                              .ptx_type = value["ptx_type"].text(),
                              .is_pointer = value["pointer"].boolean(),
                              .pointee = ""};
    if (parameter.is_pointer) parameter.pointee = value["pointee"].text();
    if (const auto members = value.find("members"))
        for (const JsonValue& member : members->list())
            parameter.members.push_back(
                {.offset = member["offset"].count(), .pointee = member["pointee"].text()});
    return parameter;
}

DataParameter data_from(const JsonValue& value) {
    DataParameter data;
    data.name = value["name"].text();
    data.type = value["type"].text();
    if (!type_from_name(data.type)) value["type"].fail("is an unknown type '" + data.type + "'");
    if (const auto extent = value.find("extent")) {
        data.is_extent = true;
        data.dimension = dimension_from(*extent);
    } else {
        data.parameter = value["param"].count();
        data.offset = value["offset"].count();
    }
    const std::size_t memo = value["memo"].one_of({"none", "coarse", "exact"});
    data.in_memo = memo != 0;
    data.coarse_in_memo = memo == 1;
    if (const auto bounds = value.find("bounds")) data.bounds = dimension_from(*bounds);
    if (const auto divides = value.find("divides")) data.divides = divides->boolean();
    if (const auto counts = value.find("counts")) data.counts = counts->boolean();
    if (const auto compared = value.find("compared"))
        for (const JsonValue& number : compared->list()) data.compared.push_back(number.count());
    return data;
}

Verdict verdict_from(const JsonValue& value) {
    constexpr std::array verdicts{Verdict::covering, Verdict::dividing, Verdict::annotated, Verdict::fixed};
    std::vector<std::string_view> names;
    for (const Verdict verdict : verdicts) names.push_back(name(verdict));
    return verdicts[value.one_of(names)];
}

GridStrideLoop loop_from(const JsonValue& value) {
    GridStrideLoop loop{dimension_from(value["dimension"]), {}, value["source"].text()};
    if (const auto rows = value.find("rows")) loop.is_of_rows = rows->boolean();
    for (const JsonValue& test : value["exits"].list()) loop.exits.push_back(predicate_from(test));
    if (loop.exits.empty()) value["exits"].fail("has no test");
    return loop;
}

std::uint64_t bits_from(const JsonValue& numbers) {
    std::uint64_t bits = 0;
    for (const JsonValue& number : numbers.list()) {
        if (number.count() > 63) number.fail("is above 63");
        bits |= std::uint64_t{1} << number.count();
    }
    return bits;
}
json to_numbers(std::uint64_t bits) {
    json numbers = json::array();
    for (unsigned number = 0; number < 64; number++)
        if ((bits >> number & 1) != 0) numbers.push_back(number);
    return numbers;
}

GridStrideAccess access_from(const JsonValue& value) {
    Expression address = expression_from(value["address"]);
    if (width_bits(address.type) != 64) value["address"].fail("has less than 64 bits");
    const auto once = value.find("once");
    GridStrideAccess access{std::move(address), value["bytes"].count(), value["writes"].boolean(),
                            value["reduction"].text(), once ? dimensions_from(*once) : std::array<bool, 3>{}};
    if (const auto phases = value.find("phases")) access.phases = bits_from(*phases);
    if (const auto loops = value.find("loops")) access.loops = bits_from(*loops);
    return access;
}

// A member that may be left out.
std::vector<GridStrideAccess> accesses_from(const JsonValue& value, const char* key) {
    std::vector<GridStrideAccess> accesses;
    if (const auto list = value.find(key))
        for (const JsonValue& access : list->list()) accesses.push_back(access_from(access));
    return accesses;
}

KernelDescription description_from(const JsonValue& value) {
    KernelDescription description;
    if (const std::uint32_t abi = value["abi"].count(); abi != description_abi)
        value["abi"].fail(fmt::format("is {}, this is {}", abi, description_abi));
    description.id = value["id"].text();
    description.name = value["name"].text();
    description.demangled = value["demangled"].text();
    description.source = value["source"].text();
    description.dimensions = uses_from(value["dimensions"]);
    description.verdict = verdict_from(value["verdict"]);
    description.race_free_proved = value["race_free"].text() == "proved";
    description.uses_float_atomics = value["float_atomics"].boolean();
    if (const auto variant = value.find("variant"))
        description.variant = Variant{.of = (*variant)["of"].text(),
                                      .value = (*variant)["value"].integer(INT32_MIN, INT32_MAX)};
    if (const auto may = value.find("reassociate")) description.may_reassociate = may->boolean();
    for (const JsonValue& image : value["images"].list()) description.images.push_back(image_from(image));
    for (const JsonValue& parameter : value["parameters"].list())
        description.parameters.push_back(parameter_from(parameter));
    for (const JsonValue& data : value["data_sources"].list()) description.data.push_back(data_from(data));
    for (const JsonValue& guard : value["guards"].list())
        description.guards.push_back(
            {dimension_from(guard["dimension"]), predicate_from(guard["exits"]), guard["source"].text()});
    for (const JsonValue& reason : value["reasons"].list())
        description.reasons.push_back(
            {reason["rule"].count(), reason["source"].text(), reason["text"].text()});
    if (const auto strides = value.find("strides"))
        for (const JsonValue& loop : strides->list()) description.strides.push_back(loop_from(loop));
    description.stride_accesses = accesses_from(value, "stride_accesses");
    if (const auto one = value.find("one_turn_a_thread"))
        description.needs_one_iteration_a_thread = one->boolean();
    description.apart = accesses_from(value, "apart");
    if (const auto least = value.find("least_threads")) description.least_threads = least->count();
    if (const auto block = value.find("block")) description.annotated_block = expression_from(*block);
    if (const auto shared = value.find("shared")) description.annotated_shared = expression_from(*shared);
    if (const auto grid = value.find("grid")) {
        const auto sizes = grid->list(3);
        for (std::size_t d = 0; d < 3; d++)
            if (!sizes[d].is_null()) description.annotated_grid[d] = expression_from(sizes[d]);
    }
    const bool has_loops = !description.strides.empty() || description.verdict == Verdict::annotated;
    if (description.keeps_grid() && !(description.annotated_grid[0] && has_loops))
        value["dimensions"].fail("has an index in the block, and there is no grid, or there are no loops");
    return description;
}

}  // namespace

json to_json(const KernelDescription& description) {
    json object{{"abi", description_abi},
                {"id", description.id},
                {"name", description.name},
                {"demangled", description.demangled},
                {"source", description.source},
                {"dimensions", to_json(description.dimensions)},
                {"verdict", name(description.verdict)},
                {"race_free", description.race_free_proved ? "proved" : "assumed"},
                {"float_atomics", description.uses_float_atomics}};
    if (description.variant)
        object["variant"] = {{"of", description.variant->of}, {"value", description.variant->value}};
    if (description.may_reassociate) object["reassociate"] = true;
    for (const char* key : {"images", "parameters", "data", "memo", "data_sources", "guards", "reasons"})
        object[key] = json::array();
    for (const KernelImage& image : description.images) object["images"].push_back(to_json(image));
    for (const KernelParameter& parameter : description.parameters)
        object["parameters"].push_back(to_json(parameter));
    for (const DataParameter& data : description.data) {
        object["data"].push_back(data.name);
        if (data.in_memo) object["memo"].push_back(data.name);
        object["data_sources"].push_back(to_json(data));
    }
    for (const Guard& guard : description.guards)
        object["guards"].push_back({{"dimension", dimension_name(static_cast<std::size_t>(guard.dimension))},
                                    {"exits", to_json(guard.exits)},
                                    {"source", guard.source}});
    for (const GridStrideLoop& loop : description.strides) {
        json exits = json::array();
        for (const Expression& test : loop.exits) exits.push_back(to_json(test));
        object["strides"].push_back({{"dimension", dimension_name(static_cast<std::size_t>(loop.dimension))},
                                     {"exits", std::move(exits)},
                                     {"source", loop.source}});
        if (loop.is_of_rows) object["strides"].back()["rows"] = true;
    }
    const auto add_accesses = [&](const char* key, const std::vector<GridStrideAccess>& accesses) {
        for (const GridStrideAccess& access : accesses) {
            object[key].push_back({{"address", to_json(access.address)},
                                   {"bytes", access.bytes},
                                   {"writes", access.writes},
                                   {"once", dimension_list(access.once)},
                                   {"reduction", access.reduction}});
            if (access.loops != 0) object[key].back()["loops"] = to_numbers(access.loops);
            if (access.phases != ~std::uint64_t{0}) object[key].back()["phases"] = to_numbers(access.phases);
        }
    };
    add_accesses("stride_accesses", description.stride_accesses);
    if (description.needs_one_iteration_a_thread) object["one_turn_a_thread"] = true;
    add_accesses("apart", description.apart);
    if (description.least_threads != 0) object["least_threads"] = description.least_threads;
    for (const Reason& reason : description.reasons)
        object["reasons"].push_back(
            {{"rule", reason.rule}, {"source", reason.source}, {"text", reason.text}});

    if (description.annotated_block) object["block"] = to_json(*description.annotated_block);
    if (description.annotated_shared) object["shared"] = to_json(*description.annotated_shared);
    const auto& grid = description.annotated_grid;
    if (grid[0] || grid[1] || grid[2]) {
        object["grid"] = json::array();
        for (const auto& expression : grid)
            object["grid"].push_back(expression ? to_json(*expression) : json(nullptr));
    }
    return object;
}

std::expected<KernelDescription, Error> description_from_json(const json& object, const std::string& origin) {
    return base::read_json(object, "kernel description", origin, description_from);
}

}  // namespace trimtab::analysis
