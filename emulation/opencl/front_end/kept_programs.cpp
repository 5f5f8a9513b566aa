// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/front_end/kept_programs.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "core/base/cache_path.h"
#include "core/base/kept_file.h"
#include "emulation/opencl/front_end/kernel_json.h"

namespace trimtab::opencl {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_files = 1000, most_bytes_of_one = std::size_t{64} << 20;
constexpr std::uint64_t most_bytes = std::uint64_t{256} << 20;

std::string path_of(const std::string& folder, const std::string& key) {
    const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
    return fmt::format("{}/{:016x}{:016x}", folder, hash.high64, hash.low64);
}

}  // namespace

std::optional<CompiledProgram> kept_program(const std::string& key) {
    const std::string folder = base::cache_path("opencl");
    if (folder.empty()) return std::nullopt;
    const auto file = base::read_sealed(path_of(folder, key), most_bytes_of_one, key);
    if (!file || !*file) return std::nullopt;
    const std::span<const std::byte> bytes = (*file)->bytes();
    try {
        const Json json =
            Json::parse(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
        CompiledProgram program{
            .ptx = json.at("ptx"), .ir = json.at("ir"), .log = json.at("log"), .kernels = {}};
        for (const Json& kernel : json.at("kernels")) program.kernels.push_back(kernel_from_json(kernel));
        return program;
    } catch (const Json::exception&) {  // sealed, and yet not what this version writes
        return std::nullopt;
    }
}

void keep_program(const std::string& key, const CompiledProgram& program) {
    const std::string folder = base::cache_path("opencl");
    if (folder.empty() || !base::make_private_folder(folder)) return;
    Json kernels = Json::array();
    for (const KernelInfo& kernel : program.kernels) kernels.push_back(to_json(kernel));
    const Json json{
        {"ptx", program.ptx}, {"ir", program.ir}, {"log", program.log}, {"kernels", std::move(kernels)}};
    // A source may hold bytes that are no UTF-8, and messages quote it.
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (base::write_sealed(path_of(folder, key), std::as_bytes(std::span(text)), key))
        base::prune_oldest(folder, most_files, most_bytes);
}

}  // namespace trimtab::opencl
