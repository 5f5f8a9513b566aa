// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/assemble_older.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/base/installation.h"
#include "core/base/process.h"

namespace trimtab::sass {

namespace {

// CUDA 11.8's release notes: sm_35 to sm_90, PTX up to 7.8.
constexpr unsigned oldest_architecture = 35, registers_before_it = 63;
constexpr std::string_view newest_version = "7.8";

// What follows a directive up to the end of its line becomes `value`.
void replace_directive(std::string& ptx, std::string_view directive, std::string_view value) {
    const std::size_t at = ptx.find(directive);
    if (at == std::string::npos) return;
    const std::size_t from = at + directive.size(), end = std::min(ptx.find('\n', from), ptx.size());
    ptx.replace(from, end - from, value);
}

std::string retargeted(std::string ptx, const std::string& architecture) {
    replace_directive(ptx, ".target ", architecture);
    const std::size_t at = ptx.find(".version ");
    // "8.4" is newer than "7.8", and "10.0" would be.
    if (at != std::string::npos && at + 10 < ptx.size() &&
        (ptx[at + 9] > newest_version[0] || ptx[at + 10] != '.'))
        replace_directive(ptx, ".version ", newest_version);
    return ptx;
}

}  // namespace

std::optional<std::string> find_older_ptxas() {
    if (auto found = base::find_program("ptxas-11.8")) return found;
    return base::find_own_program("ptxas-11.8");
}

std::optional<std::string> find_older_nvdisasm() {
    if (auto found = base::find_program("nvdisasm-12")) return found;
    return base::find_own_program("nvdisasm-12");
}

std::expected<Cubin, Error> assemble_older(const std::string& ptx, const std::string& kernel,
                                           unsigned compute_capability) {
    const auto ptxas = find_older_ptxas();
    if (!ptxas) return std::unexpected(Error{.message = "no ptxas of CUDA 11.8 is installed"});
    std::vector<std::string> options{"-lineinfo"};
    if (compute_capability < oldest_architecture)
        options.push_back(fmt::format("-maxrregcount={}", registers_before_it));
    const std::string architecture = fmt::format("sm_{}", std::max(compute_capability, oldest_architecture));
    return run_ptxas(*ptxas, retargeted(ptx, architecture), kernel, architecture, options);
}

}  // namespace trimtab::sass
