// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/launches/launch_facts.h"

#include "choosing/choices/argument_key.h"

namespace trimtab::runtime {

using nlohmann::ordered_json;

ordered_json to_array(const trimtab_dim3& size) {
    return ordered_json::array({size.x, size.y, size.z});
}

ordered_json facts_of(const LaunchToVerify& launch) {
    ordered_json line = {{"kernel", launch.kernel}, {"object", launch.object}};
    if (launch.device != nullptr) line["device"] = launch.device->name;
    line["grid"] = to_array(launch.shape.written.grid);
    line["block"] = to_array(launch.shape.written.block);
    if (launch.description == nullptr || launch.shape.arguments == nullptr) return line;
    ordered_json data = ordered_json::object();
    const auto extent =
        launch.description->counted_extent(launch.shape.written.grid, launch.shape.written.block);
    const std::vector<double> values = analysis::data_values(
        *launch.description, choosing::argument_bytes(*launch.description, launch.shape.arguments), extent);
    for (std::size_t i = 0; i < values.size(); ++i) data[launch.description->data[i].name] = values[i];
    line["data"] = std::move(data);
    return line;
}

std::string to_text(const ordered_json& line) {
    return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace trimtab::runtime
