// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/device/outside_accesses.h"

#include <string_view>
#include <utility>

namespace trimtab::emulator {

OutsideAccesses::OutsideAccesses(const char* setting, Say say) : say_(std::move(say)) {
    const std::string_view text = setting == nullptr ? std::string_view() : std::string_view(setting);
    are_errors_ = text == "error";
    if (!text.empty() && text != "warn" && text != "error")
        say_("TRIMTAB_OUT_OF_BOUNDS=" + std::string(text) + ": expected warn or error; using warn");
}

OutsideAccesses::Say OutsideAccesses::of(const std::string& kernel) {
    if (are_errors_) return {};
    return [this, kernel](const std::string& line) {
        {
            const std::lock_guard lock(mutex_);
            if (!told_.insert(kernel).second) return;
        }
        say_(line +
             "; a GPU maps this address, so the kernel goes on (TRIMTAB_OUT_OF_BOUNDS=error or trimtab run "
             "--check=memory makes it an error)");
    };
}

}  // namespace trimtab::emulator
