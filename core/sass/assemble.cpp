// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

#include "core/base/cache_path.h"
#include "core/base/installation.h"
#include "core/base/kept_file.h"
#include "core/base/process.h"
#include "core/base/temporary_folder.h"
#include "core/sass/assemble_older.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace trimtab::sass {
namespace {

constexpr std::size_t most_files = 4096;
constexpr std::uint64_t most_kept_bytes = std::uint64_t{512} << 20;
constexpr std::size_t most_bytes = std::size_t{256} << 20;  // of one disassembly

std::optional<std::string> find_tool(const std::string& name) {
    if (const char* home = secure_getenv("CUDA_HOME"))
        if (auto found = base::find_program(std::string(home) + "/bin/" + name)) return found;
    if (auto found = base::find_program(name)) return found;
    return base::find_program(TRIMTAB_CUDA_PATH "/bin/" + name);
}

// 75 of ".target sm_75", and the "a" of "sm_90a": code for that very architecture.
struct Target {
    unsigned number = 0;
    std::string suffix;
};

Target target_of(std::string_view ptx) {
    constexpr std::string_view directive = ".target sm_";
    const std::size_t at = ptx.find(directive);
    Target target;
    if (at == std::string_view::npos) return target;
    const char* end = ptx.data() + ptx.size();
    const char* behind = std::from_chars(ptx.data() + at + directive.size(), end, target.number).ptr;
    if (behind != end && (*behind == 'a' || *behind == 'f')) target.suffix = *behind;
    return target;
}

std::string architecture_for(const std::string& ptx, unsigned compute_capability) {
    const Target target = target_of(ptx);
    if (!target.suffix.empty()) return fmt::format("sm_{}{}", target.number, target.suffix);
    return fmt::format("sm_{}", std::max(compute_capability, target.number));
}

// What makes and reads code for a device.
struct Tools {
    std::string ptxas, nvdisasm, architecture;
};

std::expected<Tools, Error> tools_for(const std::string& ptx, unsigned compute_capability) {
    const bool is_older = has_older_code(compute_capability);
    const auto ptxas = is_older ? find_older_ptxas() : find_ptxas();
    const auto nvdisasm = is_older ? find_older_nvdisasm() : find_nvdisasm();
    const auto lacks = [&](std::string_view tool, std::string_view release) {
        return std::unexpected(
            Error{.message = fmt::format("no {}{} is installed", tool, is_older ? release : "")});
    };
    if (!ptxas) return lacks("ptxas", " of CUDA 11.8");
    if (!nvdisasm) return lacks("nvdisasm", " of CUDA 12");
    return Tools{.ptxas = *ptxas,
                 .nvdisasm = *nvdisasm,
                 .architecture = is_older ? fmt::format("sm_{}", compute_capability)
                                          : architecture_for(ptx, compute_capability)};
}

// Another release of a tool is another tool.
std::string identity(const std::string& tool) {
    std::error_code ignored;
    const auto size = std::filesystem::file_size(tool, ignored);
    const auto time = std::filesystem::last_write_time(tool, ignored).time_since_epoch().count();
    return fmt::format("{} {} {}", tool, size, time);
}

std::expected<std::string, Error> disassemble(const std::string& nvdisasm, const Cubin& cubin) {
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return std::unexpected(folder.error());
    const std::string input = folder->file("kernel.cubin");
    std::ofstream(input, std::ios::binary)
        .write(reinterpret_cast<const char*>(cubin.bytes.data()),
               static_cast<std::streamsize>(cubin.bytes.size()));
    auto outcome = base::run({.words = {nvdisasm, "-c", "-gp", "-hex", input}}, base::Capture::output);
    if (!outcome) return std::unexpected(outcome.error());
    if (!outcome->is_success()) return std::unexpected(Error{.message = "nvdisasm " + outcome->text()});
    return std::move(outcome->captured);
}

// The kept form: one line of the resources, then nvdisasm's text.
std::string kept_text(const std::string& architecture, const ptx::KernelResources& r,
                      const std::string& text) {
    return fmt::format("{} {} {} {} {} {}\n{}", architecture, r.registers_per_thread, r.static_shared_bytes,
                       r.local_bytes_per_thread, r.max_threads_per_block, r.code_bytes, text);
}

std::expected<Assembly, Error> read_kept(std::string_view kept, const std::string& kernel) {
    const std::size_t end = std::min(kept.find('\n'), kept.size());
    std::istringstream line{std::string(kept.substr(0, end))};
    Assembly out;
    ptx::KernelResources& r = out.resources;
    if (!(line >> out.architecture >> r.registers_per_thread >> r.static_shared_bytes >>
          r.local_bytes_per_thread >> r.max_threads_per_block >> r.code_bytes))
        return std::unexpected(Error{.message = "a kept disassembly that cannot be read"});
    auto read = read_disassembly(kept.substr(std::min(end + 1, kept.size())), "nvdisasm of " + kernel);
    if (!read) return std::unexpected(read.error());
    const auto found = std::ranges::find(read->functions, kernel, &Function::name);
    if (found == read->functions.end())
        return std::unexpected(Error{.message = "nvdisasm shows no code of " + kernel});
    out.function = std::move(*found);
    return out;
}

}  // namespace

std::optional<std::string> find_ptxas() {
    return find_tool("ptxas");
}

std::optional<std::string> find_nvdisasm() {
    if (auto found = find_tool("nvdisasm")) return found;
    return base::find_own_program("nvdisasm");
}

std::string default_cache_folder() {
    return base::cache_path("sass");
}

std::expected<Cubin, Error> assemble_cubin(const std::string& ptx, const std::string& kernel,
                                           unsigned compute_capability) {
    const auto ptxas = find_ptxas();
    if (!ptxas) return std::unexpected(Error{.message = "no ptxas is installed"});
    return run_ptxas(*ptxas, ptx, kernel, architecture_for(ptx, compute_capability), {"-lineinfo"});
}

std::expected<Assembly, Error> assemble(const std::string& ptx, const std::string& kernel,
                                        unsigned compute_capability, const std::string& cache_folder) {
    const auto tools = tools_for(ptx, compute_capability);
    if (!tools) return std::unexpected(tools.error());
    const std::string of = fmt::format("{}\n{}\n{}\n{}\n{}", identity(tools->ptxas),
                                       identity(tools->nvdisasm), tools->architecture, kernel, ptx);
    const XXH128_hash_t hash = XXH3_128bits(of.data(), of.size());
    const std::string key = fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
    const std::string path = cache_folder + "/" + key + ".sass";
    if (!cache_folder.empty()) {
        const auto kept = base::read_sealed(path, most_bytes, key);
        if (kept && *kept) {
            const auto bytes = (*kept)->bytes();
            auto read = read_kept({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, kernel);
            if (read) return read;
        }
    }
    const auto cubin = has_older_code(compute_capability) ? assemble_older(ptx, kernel, compute_capability)
                                                          : assemble_cubin(ptx, kernel, compute_capability);
    if (!cubin) return std::unexpected(cubin.error());
    const auto text = disassemble(tools->nvdisasm, *cubin);
    if (!text) return std::unexpected(text.error());
    const std::string kept = kept_text(cubin->architecture, cubin->resources, *text);
    auto read = read_kept(kept, kernel);
    // Where it cannot be kept, it is made again next time.
    if (read && !cache_folder.empty() && base::make_private_folder(cache_folder)) {
        if (base::write_sealed(path, std::as_bytes(std::span(kept)), key))
            base::prune_oldest(cache_folder, most_files, most_kept_bytes);
    }
    return read;
}

}  // namespace trimtab::sass
