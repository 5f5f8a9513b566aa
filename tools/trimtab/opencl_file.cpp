// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/opencl_file.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "core/base/read_text.h"

namespace trimtab::tools {

std::expected<opencl::CompiledProgram, Error> compile_opencl_file(const std::string& path,
                                                                  std::vector<std::string> options,
                                                                  const std::string& architecture,
                                                                  std::uint32_t work_dimensions) {
    auto source = base::read_text(path);
    if (!source) return std::unexpected(Error{.message = "cannot read the file", .file = path});
    const auto compilers = opencl::find_compilers();
    if (!compilers) return std::unexpected(compilers.error());
    const std::string folder = std::filesystem::path(path).parent_path().string();
    options.push_back("-I" + (folder.empty() ? std::string(".") : folder));
    auto program = opencl::compile_program(*compilers, {.source = std::move(*source),
                                                        .file = path,
                                                        .options = std::move(options),
                                                        .architecture = architecture,
                                                        .work_dimensions = work_dimensions});
    if (program) {
        fmt::print(stderr, "{}", program->log);
        return std::move(*program);
    }
    opencl::CompileFailure& failure = program.error();
    if (failure.kind != opencl::CompileFailure::Kind::program)
        return std::unexpected(Error{.message = std::move(failure.log), .file = path});
    fmt::print(stderr, "{}", failure.log);
    return std::unexpected(Error{.message = "does not compile", .file = path});
}

analysis::KernelSources kernel_sources(const opencl::CompiledProgram& program) {
    analysis::KernelSources sources;
    for (const opencl::KernelInfo& kernel : program.kernels) {
        analysis::KernelSource source{
            .demangled = kernel.name, .file = {}, .parameters = {}, .annotations = {}, .variant = {}};
        for (const opencl::KernelParameter& parameter : kernel.parameters)
            source.parameters.push_back({.name = parameter.name, .type = parameter.type});
        sources.emplace(kernel.name, std::move(source));
    }
    return sources;
}

}  // namespace trimtab::tools
