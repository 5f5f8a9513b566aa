// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes of a launch, which both interfaces number alike.
#pragma once

#include <cuda_runtime_api.h>

namespace trimtab::runtime {

// Those that do not depend on the shape of the launch; any other keeps it as written (a cluster is made of
// blocks, a cooperative grid is sized to the device, a dependent launch starts before the one ahead ends).
// cudaLaunchAttribute or CUlaunchAttribute.
template <typename Attribute>
[[nodiscard]] bool leaves_shape_free(const Attribute& attribute) {
    const auto& value = [&]() -> const auto& {
        if constexpr (requires { attribute.val; })
            return attribute.val;
        else
            return attribute.value;
    }();
    switch (static_cast<int>(attribute.id)) {
        case cudaLaunchAttributeIgnore:
        case cudaLaunchAttributePriority:
        case cudaLaunchAttributeAccessPolicyWindow:
        case cudaLaunchAttributeSynchronizationPolicy:
        case cudaLaunchAttributeMemSyncDomain:
        case cudaLaunchAttributeMemSyncDomainMap:
            return true;
        case cudaLaunchAttributeCooperative:
            return value.cooperative == 0;
        case cudaLaunchAttributeProgrammaticStreamSerialization:
            return value.programmaticStreamSerializationAllowed == 0;
        default:
            return false;
    }
}

}  // namespace trimtab::runtime
