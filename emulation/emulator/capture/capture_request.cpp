// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <charconv>

#include "emulation/emulator/capture/capture.h"

namespace trimtab::emulator::capture {

std::expected<Request, Error> parse_request(std::string_view text) {
    Request request{.kernel = std::string(text), .launch = 1};
    const std::size_t colon = text.rfind(':');
    // The colons of ns::kernel are two.
    if (colon != std::string_view::npos && (colon == 0 || text[colon - 1] != ':')) {
        const std::string_view number = text.substr(colon + 1);
        const auto [end, error] =
            std::from_chars(number.data(), number.data() + number.size(), request.launch);
        if (error != std::errc() || end != number.data() + number.size() || request.launch == 0)
            return std::unexpected(
                Error{.message = "the number of the launch must be 1 or more (KERNEL:n is the n-th launch)"});
        request.kernel = text.substr(0, colon);
    }
    if (request.kernel.empty()) return std::unexpected(Error{.message = "it names no kernel"});
    return request;
}

bool names_kernel(std::string_view asked, std::string_view mangled, std::string_view demangled) {
    constexpr std::string_view returned = "void ";  // templates say so
    if (asked == mangled || asked == demangled) return true;
    if (demangled.starts_with(returned)) demangled.remove_prefix(returned.size());
    return asked == demangled || asked == demangled.substr(0, demangled.find('('));
}

}  // namespace trimtab::emulator::capture
