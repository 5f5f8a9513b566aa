// The kernel description as JSON (docs/description.schema.json).
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/description.h"
#include "analysis/operation.h"

namespace trimtab::analysis {
namespace {

using nlohmann::json;

constexpr std::string_view dimension_names = "xyz";

std::string dimension_name(std::size_t dimension) {
    return {dimension_names[dimension]};
}

json dimension_list(const std::array<bool, 3>& dimensions) {
    json list = json::array();
    for (std::size_t d = 0; d < 3; d++)
        if (dimensions[d]) list.push_back(dimension_name(d));
    return list;
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
    return object;
}

// Reads the members of one object; the first fault is kept and named with where it lies.
class Reader {
  public:
    Reader(const json& object, std::string where, std::optional<Error>& error, const std::string& origin)
        : object_(object), where_(std::move(where)), error_(error), origin_(origin) {
        if (!object.is_object()) fail("is no object");
    }

    void fail(const std::string& what) const {
        if (!error_)
            error_ =
                Error{.message = fmt::format("kernel description: {} {}", where_, what), .file = origin_};
    }

    const json* find(const char* key, bool required = true) const {
        if (object_.is_object())
            if (const auto member = object_.find(key); member != object_.end()) return &*member;
        if (required) fail(fmt::format("lacks \"{}\"", key));
        return nullptr;
    }
    std::string text(const char* key) const {
        const json* member = find(key);
        if (member == nullptr) return {};
        if (!member->is_string()) return fail(fmt::format("has no text in \"{}\"", key)), std::string();
        return member->get<std::string>();
    }
    std::uint32_t number(const char* key) const {
        const json* member = find(key);
        if (member == nullptr) return 0;
        // Built in memory, a small number may be kept as a signed one.
        if (!member->is_number_integer() ||
            (!member->is_number_unsigned() && member->get<std::int64_t>() < 0) ||
            member->get<std::uint64_t>() > UINT32_MAX)
            return fail(fmt::format("has no number from 0 to 2^32 - 1 in \"{}\"", key)), 0;
        return member->get<std::uint32_t>();
    }
    bool boolean(const char* key) const {
        const json* member = find(key);
        if (member == nullptr) return false;
        if (!member->is_boolean()) return fail(fmt::format("has no true or false in \"{}\"", key)), false;
        return member->get<bool>();
    }
    Dimension dimension(const json& value, const char* key) const {
        const std::string name = value.is_string() ? value.get<std::string>() : "";
        const std::size_t at = name.size() == 1 ? dimension_names.find(name) : std::string::npos;
        if (at == std::string::npos) {
            fail(fmt::format("has none of x, y, z in \"{}\"", key));
            return Dimension::x;
        }
        return static_cast<Dimension>(at);
    }
    std::array<bool, 3> dimensions(const char* key) const {
        std::array<bool, 3> result{};
        for_each(key, [&](const json& value, const std::string&) {
            result[static_cast<std::size_t>(dimension(value, key))] = true;
        });
        return result;
    }
    std::optional<Expression> expression(const json& value) const {
        auto result = expression_from_json(value, origin_);
        if (result) return std::move(*result);
        if (!error_) error_ = result.error();
        return std::nullopt;
    }
    template <typename Visit>
    void for_each(const char* key, Visit visit) const {
        const json* list = find(key);
        if (list == nullptr) return;
        if (!list->is_array()) return fail(fmt::format("has no list in \"{}\"", key));
        for (std::size_t i = 0; i < list->size() && !error_; i++)
            visit((*list)[i], fmt::format("{}[{}]", key, i));
    }
    Reader member(const json& value, std::string where) const {
        return {value, std::move(where), error_, origin_};
    }

  private:
    const json& object_;
    std::string where_;
    std::optional<Error>& error_;
    const std::string& origin_;
};

KernelImage read_image(const Reader& reader) {
    return {.architecture = reader.text("arch"),
            .registers = reader.number("registers"),
            .registers_from = reader.text("registers_from"),
            .shared_bytes = reader.number("shared_bytes"),
            .local_bytes = reader.number("local_bytes"),
            .max_threads = reader.number("max_threads")};
}

KernelParameter read_parameter(const Reader& reader) {
    KernelParameter parameter{.index = reader.number("index"),
                              .name = reader.text("name"),
                              .offset = reader.number("offset"),
                              .size = reader.number("size"),
                              .type = reader.text("type"),
                              .ptx_type = reader.text("ptx_type"),
                              .is_pointer = reader.boolean("pointer"),
                              .pointee = ""};
    if (parameter.is_pointer) parameter.pointee = reader.text("pointee");
    return parameter;
}

DataParameter read_data(const Reader& reader) {
    DataParameter data;
    data.name = reader.text("name");
    data.type = reader.text("type");
    if (!type_from_name(data.type)) reader.fail("has an unknown type '" + data.type + "'");
    if (const json* extent = reader.find("extent", false)) {
        data.is_extent = true;
        data.dimension = reader.dimension(*extent, "extent");
    } else {
        data.parameter = reader.number("param");
        data.offset = reader.number("offset");
    }
    const std::string memo = reader.text("memo");
    if (memo != "none" && memo != "coarse" && memo != "exact")
        reader.fail("has none of exact, coarse, none in \"memo\"");
    data.in_memo = memo != "none";
    data.coarse_in_memo = memo == "coarse";
    if (const json* bounds = reader.find("bounds", false)) data.bounds = reader.dimension(*bounds, "bounds");
    return data;
}

Verdict read_verdict(const Reader& reader) {
    const std::string text = reader.text("verdict");
    for (const Verdict verdict : {Verdict::covering, Verdict::dividing, Verdict::annotated, Verdict::fixed})
        if (name(verdict) == text) return verdict;
    reader.fail("has an unknown verdict '" + text + "'");
    return Verdict::fixed;
}

void read_strides(const Reader& reader, KernelDescription& description) {
    if (reader.find("strides", false) != nullptr)
        reader.for_each("strides", [&](const json& value, const std::string& where) {
            const Reader loop = reader.member(value, where);
            const json* dimension = loop.find("dimension");
            if (dimension == nullptr) return;
            GridStrideLoop result{loop.dimension(*dimension, "dimension"), {}, loop.text("source")};
            loop.for_each("exits", [&](const json& test, const std::string&) {
                auto expression = loop.expression(test);
                if (!expression) return;
                if (expression->type != ptx::Type::pred) return loop.fail("has a test that is no predicate");
                result.exits.push_back(std::move(*expression));
            });
            if (result.exits.empty()) return loop.fail("has no test");
            description.strides.push_back(std::move(result));
        });
    if (reader.find("stride_accesses", false) != nullptr)
        reader.for_each("stride_accesses", [&](const json& value, const std::string& where) {
            const Reader access = reader.member(value, where);
            const json* address = access.find("address");
            if (address == nullptr) return;
            auto expression = access.expression(*address);
            if (!expression) return;
            if (width_bits(expression->type) != 64) return access.fail("has an address of less than 64 bits");
            description.stride_accesses.push_back(
                {std::move(*expression), access.number("bytes"), access.boolean("writes"),
                 access.text("reduction"),
                 access.find("once", false) != nullptr ? access.dimensions("once") : std::array<bool, 3>{}});
        });
}

void read_annotations(const Reader& reader, KernelDescription& description) {
    if (const json* block = reader.find("block", false))
        description.annotated_block = reader.expression(*block);
    if (const json* shared = reader.find("shared", false))
        description.annotated_shared = reader.expression(*shared);
    if (const json* grid = reader.find("grid", false)) {
        if (!grid->is_array() || grid->size() != 3)
            return reader.fail("has no list of three expressions in \"grid\"");
        for (std::size_t d = 0; d < 3; d++)
            if (!(*grid)[d].is_null()) description.annotated_grid[d] = reader.expression((*grid)[d]);
    }
}

}  // namespace

json to_json(const KernelDescription& description) {
    json object{{"abi", description_abi},
                {"id", description.id},
                {"name", description.name},
                {"demangled", description.demangled},
                {"source", description.source},
                {"dimensions", dimension_list(description.dimensions)},
                {"reads_total", dimension_list(description.reads_total)},
                {"block_stays_one", dimension_list(description.block_stays_one)},
                {"verdict", name(description.verdict)},
                {"race_free", description.race_free_proved ? "proved" : "assumed"},
                {"float_atomics", description.uses_float_atomics}};
    if (description.keeps_grid()) object["grid_stays"] = dimension_list(description.grid_stays);
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
    }
    for (const GridStrideAccess& access : description.stride_accesses)
        object["stride_accesses"].push_back({{"address", to_json(access.address)},
                                             {"bytes", access.bytes},
                                             {"writes", access.writes},
                                             {"once", dimension_list(access.once)},
                                             {"reduction", access.reduction}});
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
    std::optional<Error> error;
    const Reader reader(object, "the top level", error, origin);
    KernelDescription description;
    if (const std::uint32_t abi = reader.number("abi"); !error && abi != description_abi)
        reader.fail(fmt::format("has abi {}, this is {}", abi, description_abi));
    description.id = reader.text("id");
    description.name = reader.text("name");
    description.demangled = reader.text("demangled");
    description.source = reader.text("source");
    description.dimensions = reader.dimensions("dimensions");
    description.reads_total = reader.dimensions("reads_total");
    description.block_stays_one = reader.dimensions("block_stays_one");
    if (reader.find("grid_stays", false) != nullptr) description.grid_stays = reader.dimensions("grid_stays");
    description.verdict = read_verdict(reader);
    description.race_free_proved = reader.text("race_free") == "proved";
    description.uses_float_atomics = reader.boolean("float_atomics");
    reader.for_each("images", [&](const json& value, const std::string& where) {
        description.images.push_back(read_image(reader.member(value, where)));
    });
    reader.for_each("parameters", [&](const json& value, const std::string& where) {
        description.parameters.push_back(read_parameter(reader.member(value, where)));
    });
    reader.for_each("data_sources", [&](const json& value, const std::string& where) {
        description.data.push_back(read_data(reader.member(value, where)));
    });
    reader.for_each("guards", [&](const json& value, const std::string& where) {
        const Reader guard = reader.member(value, where);
        const json *dimension = guard.find("dimension"), *exits = guard.find("exits");
        if (dimension == nullptr || exits == nullptr) return;
        auto expression = guard.expression(*exits);
        if (!expression) return;
        if (expression->type != ptx::Type::pred) return guard.fail("is no predicate");
        description.guards.push_back(
            {guard.dimension(*dimension, "dimension"), std::move(*expression), guard.text("source")});
    });
    reader.for_each("reasons", [&](const json& value, const std::string& where) {
        const Reader reason = reader.member(value, where);
        description.reasons.push_back({reason.number("rule"), reason.text("source"), reason.text("text")});
    });
    read_strides(reader, description);
    read_annotations(reader, description);
    if (description.keeps_grid() && !(description.annotated_grid[0] && !description.strides.empty()))
        reader.fail("has \"grid_stays\" and states no grid, or has no loops");
    if (error) return std::unexpected(std::move(*error));
    return description;
}

}  // namespace trimtab::analysis
