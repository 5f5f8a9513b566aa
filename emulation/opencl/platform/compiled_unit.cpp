// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sources, compiled for the launches that come; and their binaries.
#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <nlohmann/json.hpp>

#include "emulation/opencl/front_end/kernel_json.h"
#include "emulation/opencl/platform/program.h"

namespace trimtab::opencl {
namespace {

using Json = nlohmann::json;

// A binary: this, the hash of what follows, and JSON.
constexpr std::string_view binary_mark = "TRIMTAB OPENCL BINARY 1\n";
constexpr std::size_t hash_digits = 16;

std::string hash_of(std::string_view text) {
    return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::expected<CompiledProgram, CompileFailure> compile_for(CompileRequest request, LaunchKind kind) {
    static const auto compilers = find_compilers();
    if (!compilers)
        return std::unexpected(
            CompileFailure{.kind = CompileFailure::Kind::installation, .log = compilers.error().text()});
    request.work_dimensions = kind.work_dimensions;
    request.has_offset = kind.has_offset;
    return compile_program(*compilers, request);
}

// "2", "2+": with an offset.
std::string text_of(LaunchKind kind) {
    return fmt::format("{}{}", kind.work_dimensions, kind.has_offset ? "+" : "");
}

}  // namespace

std::expected<std::shared_ptr<CompiledUnit>, CompileFailure> CompiledUnit::compile(CompileRequest request) {
    auto made = compile_for(request, {});
    if (!made) return std::unexpected(std::move(made.error()));
    auto unit = std::make_shared<CompiledUnit>();
    unit->asks_dimensions_ = made->asks_dimensions;
    unit->request_ = std::move(request);
    unit->has_source_ = true;
    unit->log_ = std::move(made->log);
    unit->kernels_ = std::move(made->kernels);
    unit->ptx_[{}] = std::move(made->ptx);
    return unit;
}

std::expected<std::string, std::string> CompiledUnit::ptx(LaunchKind kind) {
    kind = needed(kind);
    const std::lock_guard lock(mutex_);
    if (const auto place = ptx_.find(kind); place != ptx_.end()) return place->second;
    if (!has_source_) return std::unexpected("the binary lacks code for such launches");
    auto made = compile_for(request_, kind);
    if (!made) return std::unexpected(std::move(made.error().log));
    return ptx_[kind] = std::move(made->ptx);
}

std::expected<std::string, std::string> CompiledUnit::binary() {
    Json codes = Json::object(), kernels = Json::array();
    for (const bool has_offset : {false, true}) {
        for (const std::uint32_t dimensions : {1u, 2u, 3u}) {
            const LaunchKind kind{.work_dimensions = dimensions, .has_offset = has_offset};
            if (needed(kind) != kind) continue;
            auto code = ptx(kind);
            if (!code) return std::unexpected(code.error());
            codes[text_of(kind)] = std::move(*code);
        }
    }
    for (const KernelInfo& kernel : kernels_) kernels.push_back(to_json(kernel));
    const Json json{
        {"kernels", std::move(kernels)}, {"asks_dimensions", asks_dimensions_}, {"ptx", std::move(codes)}};
    const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return fmt::format("{}{}{}", binary_mark, hash_of(text), text);
}

std::shared_ptr<CompiledUnit> CompiledUnit::from_binary(std::string_view binary) {
    if (!binary.starts_with(binary_mark) || binary.size() < binary_mark.size() + hash_digits) return nullptr;
    const std::string_view hash = binary.substr(binary_mark.size(), hash_digits);
    const std::string_view text = binary.substr(binary_mark.size() + hash_digits);
    if (hash_of(text) != hash) return nullptr;
    try {
        const Json json = Json::parse(text);
        auto unit = std::make_shared<CompiledUnit>();
        unit->asks_dimensions_ = json.at("asks_dimensions").get<bool>();
        for (const Json& kernel : json.at("kernels")) unit->kernels_.push_back(kernel_from_json(kernel));
        for (const bool has_offset : {false, true}) {
            for (const std::uint32_t dimensions : {1u, 2u, 3u}) {
                const LaunchKind kind{.work_dimensions = dimensions, .has_offset = has_offset};
                if (unit->needed(kind) == kind)
                    unit->ptx_[kind] = json.at("ptx").at(text_of(kind)).get<std::string>();
            }
        }
        return unit;
    } catch (const Json::exception&) {
        return nullptr;
    }
}

}  // namespace trimtab::opencl
