// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/emulation/opencl/compiled_kernels.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>

#include "core/base/temporary_folder.h"
#include "core/ptx/module.h"

namespace trimtab::opencl::test {

std::expected<CompiledProgram, CompileFailure> compile(const CompileRequest& request) {
    const auto cache = base::TemporaryFolder::make().value();
    setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
    auto made = compile_program(find_compilers().value(), request);
    unsetenv("XDG_CACHE_HOME");
    return made;
}

std::string ptx_of(const std::string& name) {
    std::ifstream file(TRIMTAB_SOURCE_DIR "/tests/emulation/opencl/" + name);
    const auto made =
        compile({.source = {std::istreambuf_iterator<char>(file), {}}, .options = {"-cl-std=CL3.0"}});
    if (made) return made->ptx;
    ADD_FAILURE() << made.error().log;
    return {};
}

std::map<std::string, analysis::KernelDescription> describe_kernels(const std::string& ptx) {
    std::map<std::string, analysis::KernelDescription> out;
    const auto module = ptx::parse(ptx, "kernels.cl");
    if (!module) {
        ADD_FAILURE() << module.error().text();
        return out;
    }
    const analysis::Image image{
        .module = &*module, .architecture = module->target, .resources = {}, .resources_from = {}};
    auto described = analysis::describe(std::span(&image, 1), {}, {});
    if (!described) {
        ADD_FAILURE() << described.error().text();
        return out;
    }
    for (analysis::KernelDescription& kernel : *described) out.emplace(kernel.name, std::move(kernel));
    return out;
}

}  // namespace trimtab::opencl::test
