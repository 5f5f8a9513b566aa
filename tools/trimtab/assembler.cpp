#include "tools/trimtab/assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>

#include "base/installation.h"
#include "base/process.h"
#include "base/temporary_folder.h"
#include "ptx/binary.h"

namespace trimtab::tools {

namespace {

// The one on PATH, of CUDA_HOME, or of the toolkit that Trimtab was built with.
std::optional<std::string> find_ptxas() {
    if (const char* home = std::getenv("CUDA_HOME"))
        if (auto found = base::find_program(std::string(home) + "/bin/ptxas")) return found;
    if (auto found = base::find_program("ptxas")) return found;
    return base::find_program(TRIMTAB_CUDA_PATH "/bin/ptxas");
}

// 75 of ".target sm_75".
unsigned target_of(std::string_view ptx) {
    constexpr std::string_view directive = ".target sm_";
    const std::size_t at = ptx.find(directive);
    unsigned target = 0;
    if (at != std::string_view::npos)
        std::from_chars(ptx.data() + at + directive.size(), ptx.data() + ptx.size(), target);
    return target;
}

}  // namespace

std::optional<analysis::KernelImage> assemble(const std::string& ptx, const std::string& kernel,
                                              unsigned compute_capability) {
    const auto ptxas = find_ptxas();
    if (!ptxas) return std::nullopt;
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return std::nullopt;
    const std::string input = folder->file("kernel.ptx"), output = folder->file("kernel.cubin");
    std::ofstream(input, std::ios::binary) << ptx;
    const std::string architecture = fmt::format("sm_{}", std::max(compute_capability, target_of(ptx)));
    if (!base::run_to_success(
            {.words = {*ptxas, "-arch=" + architecture, "--entry", kernel, input, "-o", output}}))
        return std::nullopt;
    std::ifstream file(output, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto cubin = ptx::read_cubin(std::as_bytes(std::span(bytes)), output);
    if (!cubin) return std::nullopt;
    const auto found = cubin->find(kernel);
    if (found == cubin->end()) return std::nullopt;
    return analysis::KernelImage{.architecture = architecture,
                                 .registers = found->second.registers_per_thread,
                                 .registers_from = "ptxas " + architecture,
                                 .shared_bytes = found->second.static_shared_bytes,
                                 .local_bytes = found->second.local_bytes_per_thread,
                                 .max_threads = found->second.max_threads_per_block};
}

}  // namespace trimtab::tools
