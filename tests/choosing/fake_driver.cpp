// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/choosing/fake_driver.h"

#include <nlohmann/json.hpp>

#include "trimtab/section.h"

namespace trimtab::choosing::testing {
namespace {

int evaluate(const trimtab_device*, const trimtab_image*, const double* data, trimtab_dim3 block, double,
             trimtab_prediction* out) {
    out->predicted_ns = driver_script().predict(data, block);
    out->uncertain = driver_script().doubt;
    out->relative_error = driver_script().relative_error;
    return 0;
}

int select(const trimtab_device*, const trimtab_image*, const double* data, const trimtab_limits*, double,
           std::uint32_t count, trimtab_choice* out) {
    DriverScript& script = driver_script();
    ++script.selects;
    const auto offer = [&](std::uint32_t place, trimtab_dim3 block) {
        out[place] = {};
        out[place].block = block;
        out[place].predicted_ns = script.predict(data, block);
        out[place].uncertain = script.doubt;
    };
    if (script.select_result > 0) offer(0, script.best);
    if (script.select_result != 1) return script.select_result;
    std::uint32_t offered = 1;
    for (const trimtab_dim3& other : script.others)
        if (offered < count) offer(offered++, other);
    return static_cast<int>(offered);
}

int keeps_order(const trimtab_device*, const trimtab_image*, const trimtab_asked* first,
                const trimtab_asked* second) {
    const DriverScript& script = driver_script();
    return script.keeps_order ? script.keeps_order(first->block, second->block) : 0;
}

}  // namespace

DriverScript& driver_script() {
    static DriverScript script;
    return script;
}

analysis::KernelDescription guarded_kernel() {
    using analysis::Dimension;
    using analysis::Expression;
    analysis::KernelDescription kernel;
    kernel.id = "0123456789abcdef";
    kernel.name = "_Z7guardediPfii";
    kernel.demangled = "guarded(int, float*, int, int)";
    kernel.images = {{.architecture = "sm_75", .registers = 32, .registers_from = "ptxas sm_75"}};
    const auto parameter = [](std::uint32_t index, std::string name, std::uint32_t offset, std::uint32_t size,
                              std::string type) {
        return analysis::KernelParameter{.index = index,
                                         .name = std::move(name),
                                         .offset = offset,
                                         .size = size,
                                         .type = type,
                                         .ptx_type = type == "float *" ? "u64" : "u32",
                                         .is_pointer = type == "float *",
                                         .pointee = type == "float *" ? "float" : ""};
    };
    kernel.parameters = {parameter(0, "n", 0, 4, "int"), parameter(1, "out", 8, 8, "float *"),
                         parameter(2, "step", 16, 4, "int"), parameter(3, "bound", 20, 4, "int")};
    kernel.dimensions[0].index = analysis::Index::global;
    const auto data = [](std::string name, std::uint32_t parameter, bool in_memo, bool coarse) {
        analysis::DataParameter out;
        out.name = std::move(name);
        out.parameter = parameter;
        out.type = "s32";
        out.in_memo = in_memo;
        out.coarse_in_memo = coarse;
        return out;
    };
    analysis::DataParameter extent;
    extent.name = "extent.x";
    extent.is_extent = true;
    extent.type = "u32";
    extent.dimension = Dimension::x;
    kernel.data = {data("n", 0, true, false), data("step", 2, false, false), data("bound", 3, true, true),
                   extent};
    Expression index;
    index.kind = Expression::Kind::global_index;
    index.type = ptx::Type::s32;
    index.dimension = Dimension::x;
    Expression n;
    n.kind = Expression::Kind::parameter;
    n.type = ptx::Type::s32;
    n.parameter = 0;
    const Expression exits = analysis::applied(analysis::decode_operation("setp.ge.s32").value(), {index, n});
    kernel.guards = {{.dimension = Dimension::x, .exits = exits, .source = "guarded.cu:3"}};
    kernel.verdict = analysis::Verdict::covering;
    kernel.race_free_proved = true;
    return kernel;
}

trimtab_driver fake_driver(const analysis::KernelDescription& description) {
    static const char* const data_names[] = {"n", "step", "bound", "extent.x"};
    static const std::string id = description.id;
    static const std::string name = description.name;
    return {.abi = TRIMTAB_DRIVER_ABI,
            .struct_bytes = sizeof(trimtab_driver),
            .id = id.c_str(),
            .kernel = name.c_str(),
            .data_count = 4,
            .metric_count = 0,
            .data_names = data_names,
            .metric_names = nullptr,
            .evaluate = &evaluate,
            .select = &select,
            .profiled_least = nullptr,
            .profiled_most = nullptr,
            .keeps_order = &keeps_order};
}

FakeBundle::FakeBundle(const analysis::KernelDescription& description, const std::string& fat_binary_hash,
                       const std::function<void(std::string& json)>& edit)
    : hash_(fat_binary_hash), driver_(fake_driver(description)), drivers_{&driver_} {
    const nlohmann::json record{{"abi", record_abi},
                                {"compiler", "trimtab++ test"},
                                {"input", "guarded.cu"},
                                {"fat_binary", hash_},
                                {"kernels", {{{"description", analysis::to_json(description)}}}},
                                {"details", "00000000000000c0"}};
    json_ = record.dump();
    if (edit) edit(json_);
    bundle_ = {.abi = TRIMTAB_DRIVER_ABI,
               .driver_count = 1,
               .fat_binary_hash = hash_.c_str(),
               .drivers = drivers_,
               .json = json_.data(),
               .json_bytes = json_.size()};
}

}  // namespace trimtab::choosing::testing
