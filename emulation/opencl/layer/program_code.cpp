// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a program's source to code that is described: what the driver compiles for itself, compiled once more.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <thread>

#include "emulation/opencl/front_end/option_words.h"
#include "emulation/opencl/layer/compiler_conditions.h"
#include "emulation/opencl/layer/records.h"

namespace trimtab::opencl {
namespace {

// With the program's mutex not held, by one thread.
void compile(const std::shared_ptr<ProgramRecord>& program) {
    std::unique_ptr<CompiledProgram> code;
    std::string failure;
    try {
        auto words = option_words(program->options);
        // What the driver's compiler says of the device, which may be older than what Trimtab makes programs for.
        if (words && program->opencl_version != 0)
            words->insert(words->begin(), "-D__OPENCL_VERSION__=" + std::to_string(program->opencl_version));
        const auto compilers = find_compilers();
        if (!words) {
            failure = words.error();
        } else if (!compilers) {
            failure = compilers.error().text();
        } else if (const std::string asked = asked_of_compiler(program->source, *words); !asked.empty()) {
            failure = "its source asks its compiler for " + asked;
        } else if (program->opencl_version == 0 && program->source.contains("__OPENCL_VERSION__")) {
            failure = "its source reads __OPENCL_VERSION__, and its devices have none in common";
        } else if (auto made = compile_program(
                       *compilers, {.source = program->source, .options = *words, .keeps_accesses = true})) {
            code = std::make_unique<CompiledProgram>(std::move(*made));
        } else {
            failure = "its source does not compile here: " +
                      made.error().log.substr(0, made.error().log.find('\n'));
        }
    } catch (const std::exception& error) {
        failure = error.what();
    }
    choosing::PreparedModule* module =
        code == nullptr ? nullptr : Chooser::instance().module_of(code->ptx.c_str());
    const std::lock_guard lock(program->mutex);
    program->code = std::move(code);
    program->module = module;
    program->failure = std::move(failure);
    program->state = ProgramRecord::State::done;
}

// Is the code there, or known not to come?
bool is_compiled(const std::shared_ptr<ProgramRecord>& program) {
    {
        const std::lock_guard lock(program->mutex);
        if (program->state != ProgramRecord::State::untouched)
            return program->state == ProgramRecord::State::done;
        program->state = ProgramRecord::State::compiling;
    }
    if (Chooser::instance().settings().modules == choosing::ModulesMode::wait) {
        compile(program);
        return true;
    }
    std::thread(compile, program).detach();
    return false;
}

// The value that the kernel gets, of what the program gave.
void set_value(KernelRecord& kernel, std::size_t index) {
    ArgumentRecord& argument = kernel.arguments[index];
    if (argument.is_memory) {
        cl_mem memory = nullptr;
        std::uint64_t address = 0;
        if (argument.given.size() == sizeof(cl_mem)) {
            std::memcpy(static_cast<void*>(&memory), argument.given.data(), sizeof(cl_mem));
            address = Records::instance().address_of(memory);
        }
        std::memcpy(argument.value.data(), &address, sizeof address);
        return;
    }
    if (argument.given.size() > argument.value.size()) argument.value.resize(argument.given.size());
    std::ranges::copy(argument.given, argument.value.begin());
    kernel.places[index] = argument.value.data();
}

// Why launches of it keep their work-groups; empty: they need not.
std::string take_code(KernelRecord& kernel, ProgramRecord& program) {
    const std::lock_guard lock(program.mutex);
    if (program.code == nullptr) return program.failure;
    for (const KernelInfo& info : program.code->kernels)
        if (info.name == kernel.name) kernel.info = &info;
    if (kernel.info == nullptr || kernel.info->parameters.size() != kernel.arguments.size())
        return "its driver and Trimtab compile its source differently";
    if (kernel.info->required_size[0] != 0) return "the kernel requires its work-group's size";
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
        const KernelParameter& parameter = kernel.info->parameters[i];
        if (parameter.type == "sampler_t" || parameter.type.starts_with("image"))
            return "images of this device are not known to Trimtab";
        kernel.arguments[i].is_memory =
            parameter.space == AddressSpace::global || parameter.space == AddressSpace::constant;
        set_value(kernel, i);
    }
    kernel.chosen = &Chooser::instance().kernel_of(program.module, kernel.name);
    return {};
}

}  // namespace

bool make_ready(KernelRecord& kernel) {
    const std::lock_guard lock(kernel.mutex);
    if (kernel.is_ready.load()) return kernel.left_alone.empty();
    if (kernel.program == nullptr || !kernel.program->left_alone.empty()) {
        kernel.left_alone =
            kernel.program == nullptr ? "its program was not seen" : kernel.program->left_alone;
    } else {
        if (!is_compiled(kernel.program)) return false;
        kernel.left_alone = take_code(kernel, *kernel.program);
    }
    if (kernel.chosen == nullptr) kernel.chosen = &Chooser::instance().kernel_of(nullptr, kernel.name);
    kernel.is_ready.store(true, std::memory_order_release);
    return kernel.left_alone.empty();
}

namespace {

void note_set(KernelRecord& kernel, ArgumentRecord& argument) {
    if (!argument.is_set) --kernel.unset;
    argument.is_set = true;
}

}  // namespace

void note_argument(KernelRecord& kernel, cl_uint index, std::size_t size, const void* value) {
    if (index >= kernel.arguments.size()) return;
    ArgumentRecord& argument = kernel.arguments[index];
    const auto* bytes = static_cast<const std::byte*>(value);
    argument.given.assign(bytes, bytes == nullptr ? bytes : bytes + size);
    set_value(kernel, index);
    note_set(kernel, argument);
}

void note_pointer(KernelRecord& kernel, cl_uint index, const void* pointer) {
    if (index >= kernel.arguments.size()) return;
    ArgumentRecord& argument = kernel.arguments[index];
    argument.is_memory = false;
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const auto* bytes = reinterpret_cast<const std::byte*>(&address);
    argument.given.assign(bytes, bytes + sizeof address);
    set_value(kernel, index);
    note_set(kernel, argument);
}

}  // namespace trimtab::opencl
