// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the engine is told by the interface whose launches it decides on: CUDA, or OpenCL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "choosing/kernel.h"
#include "choosing/known_device.h"
#include "choosing/launch_shape.h"
#include "choosing/modules/bundles.h"
#include "trimtab/driver.h"

namespace trimtab::choosing {

// Asked by any thread that launches, by several at once, and with no lock of the engine's held but that of one kernel's images
// (correct()).
class Host {
  public:
    Host() = default;
    virtual ~Host() = default;
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;

    // H of a device; null: it cannot be described now, and launches on it go out as written.
    [[nodiscard]] virtual std::shared_ptr<const KnownDevice> device(std::uint32_t ordinal) = 0;

    // What came with the kernel's program.
    struct Own {
        Bundles::Found found;        // its driver program; without one, the reason says why
        const void* code = nullptr;  // what driver programs may be prepared from; null: nothing
    };
    [[nodiscard]] virtual Own own(const Kernel& kernel) = 0;
    // The kernel of that name which came with this one; null: there is none.
    [[nodiscard]] virtual Kernel* neighbour(Kernel& kernel, std::string_view name) = 0;

    // `image` is what the description expects to run on the device: the interface may know better. Asked once for each kernel
    // and device.
    virtual void correct(trimtab_image& image, const Kernel& kernel, const LaunchShape& shape) = 0;
    // The dynamic shared memory that the kernel's blocks may have, as it is set now; 0: nothing is known of it.
    [[nodiscard]] virtual std::uint64_t max_dynamic_shared_bytes(const Kernel& kernel,
                                                                 const LaunchShape& shape) = 0;
    // The kernel's code, a fat binary or PTX, for a cross-check of its choices; null: it is not kept.
    [[nodiscard]] virtual std::shared_ptr<const std::vector<std::byte>> code(const Kernel& kernel) = 0;

    // Does `trimtab profile` take the interface's programs?
    [[nodiscard]] virtual bool can_profile() const { return true; }
    // What the interface's users call a thread block.
    [[nodiscard]] virtual std::string_view word_for_block() const { return "block"; }
};

}  // namespace trimtab::choosing
