// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From compiled sources to kernels that run.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/analysis/describe.h"
#include "core/analysis/launches/demangle.h"
#include "core/analysis/launches/legal_blocks.h"
#include "core/ptx/module.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/opencl/platform/program.h"

namespace trimtab::opencl {
namespace {

// What the device itself has.
constexpr std::array<std::string_view, 4> of_the_device{"vprintf", "malloc", "free", "__assertfail"};

// A line that names what no unit has; empty: there is none.
std::string undefined_function(const ptx::Module& module) {
    for (const ptx::Function& function : module.functions)
        if (function.body.empty() && function.is_extern &&
            std::ranges::find(of_the_device, function.name) == of_the_device.end())
            return fmt::format("undefined function: {}", analysis::demangle(function.name));
    return {};
}

}  // namespace

const KernelInfo* Executable::kernel(std::string_view name) const {
    for (const auto& unit : units_)
        for (const KernelInfo& info : unit->kernels())
            if (info.name == name) return &info;
    return nullptr;
}

std::vector<const KernelInfo*> Executable::kernels() const {
    std::vector<const KernelInfo*> out;
    for (const auto& unit : units_)
        for (const KernelInfo& info : unit->kernels()) out.push_back(&info);
    return out;
}

Executable::Variant Executable::make(LaunchKind kind) {
    Variant variant;
    std::vector<ptx::Module> modules;
    for (const auto& unit : units_) {
        auto code = unit->ptx(kind);
        if (!code) {
            variant.failure = code.error();
            return variant;
        }
        auto module = ptx::parse(*code, "program");
        if (!module) {
            variant.failure = module.error().text();
            return variant;
        }
        modules.push_back(std::move(*module));
        variant.ptx = std::make_unique<std::string>(std::move(*code));
    }
    if (modules.size() != 1) variant.ptx = nullptr;  // nothing is prepared of what was linked here
    auto linked = modules.size() == 1 ? std::expected<ptx::Module, Error>(std::move(modules[0]))
                                      : ptx::link(std::move(modules));
    if (!linked) {
        variant.failure = linked.error().text();
        return variant;
    }
    if (variant.failure = undefined_function(*linked); !variant.failure.empty()) return variant;
    auto program = emulator::load_program(std::move(*linked));
    if (!program) {
        variant.failure = program.error().text();
        return variant;
    }
    variant.program = std::move(*program);
    const ptx::Module& module = emulator::module_of(*variant.program);
    const std::array<analysis::Image, 1> images{analysis::Image{
        .module = &module, .architecture = module.target, .resources = {}, .resources_from = {}}};
    if (const auto described = analysis::describe(images, {}))
        for (const analysis::KernelDescription& description : *described)
            if (!description.images.empty())
                variant.images[description.name] = analysis::to_driver_image(description.images.front());
    // The proof is of launches without an offset.
    if (variant.ptx != nullptr && !kind.has_offset)
        variant.module = Chooser::instance().module_of(variant.ptx->c_str());
    return variant;
}

std::expected<LoadedKernel*, std::string> Executable::load(const std::string& name, LaunchKind kind) {
    bool asks = false;
    for (const auto& unit : units_) asks = asks || unit->needed(kind) == kind;
    if (!asks) kind.work_dimensions = 1;
    const std::lock_guard lock(mutex_);
    auto place = variants_.find(kind);
    if (place == variants_.end()) place = variants_.emplace(kind, make(kind)).first;
    Variant& variant = place->second;
    if (!variant.failure.empty()) return std::unexpected(variant.failure);
    auto& loaded = variant.kernels[name];
    if (loaded != nullptr) return loaded.get();
    const emulator::KernelInfo* info = emulator::kernel_info(*variant.program, name);
    const ptx::Module& module = emulator::module_of(*variant.program);
    const ptx::Function* function = module.function(name);
    if (info == nullptr || function == nullptr) {
        variant.kernels.erase(name);
        return std::unexpected(fmt::format("the program has no kernel {}", name));
    }
    loaded = std::make_unique<LoadedKernel>();
    loaded->chosen = &Chooser::instance().kernel_of(variant.module, name);
    loaded->program = variant.program;
    loaded->info = info;
    loaded->function = function;
    if (const auto image = variant.images.find(name); image != variant.images.end())
        loaded->image = image->second;
    if (kind.has_offset)
        for (const ptx::Variable& variable : module.variables)
            if (variable.name.starts_with(offset_variable))
                if (const auto storage = emulator::variable_storage(*variant.program, variable.name))
                    loaded->offsets.push_back(storage->host);
    return loaded.get();
}

}  // namespace trimtab::opencl
