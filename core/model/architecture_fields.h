// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fields of architecture descriptions by name, which device descriptions may have too.
#pragma once

#include <limits>
#include <span>
#include <string_view>

#include "core/model/architecture.h"

namespace trimtab::base {
class JsonValue;
}

namespace trimtab::model {

struct ArchitectureField {
    std::string_view name;
    Sourced Architecture::* member;
    double least = 0, most = std::numeric_limits<double>::max();
    bool is_whole = false;
};
// Every number of Architecture, in order.
[[nodiscard]] std::span<const ArchitectureField> architecture_fields();
[[nodiscard]] std::vector<std::string_view> architecture_field_names();

// {"value": 4, "source": "vendor: ..."}; throws base::Malformed where it is not that, or not within the field's limits.
[[nodiscard]] Sourced read_sourced(const base::JsonValue& entry, const ArchitectureField& field);

}  // namespace trimtab::model
