// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/device_link.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Frontend/Offloading/OffloadWrapper.h"
#include "llvm/Frontend/Offloading/Utility.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Object/OffloadBinary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "tools/trimtab++/device_code.h"
#include "tools/trimtab++/instrument.h"
#include "tools/trimtab++/jobs.h"

namespace trimtab::wrapper {
namespace {

namespace fs = std::filesystem;

struct DeviceInput {
    std::string path;
    bool is_archive = false;
};

std::unique_ptr<llvm::MemoryBuffer> open(const std::string& path) {
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    return buffer ? std::move(*buffer) : nullptr;
}

// -lNAME in the folders of -L: a static library alone can hold device code that is still to be linked.
std::optional<std::string> find_static_library(const CommandLine& line, const std::string& name) {
    for (const Argument& argument : line.arguments) {
        const std::string& token = argument.tokens.front();
        if (!token.starts_with("-L")) continue;
        const fs::path folder = token.size() > 2 ? token.substr(2) : argument.tokens.back();
        std::error_code ignored;
        if (fs::exists(folder / ("lib" + name + ".so"), ignored)) return std::nullopt;
        const fs::path path = folder / ("lib" + name + ".a");
        if (fs::exists(path, ignored)) return path.string();
    }
    return std::nullopt;
}

std::vector<DeviceInput> device_inputs(const CommandLine& line,
                                       const std::map<std::size_t, std::string>& objects) {
    std::vector<DeviceInput> inputs;
    for (std::size_t i = 0; i < line.arguments.size(); ++i) {
        const Argument& argument = line.arguments[i];
        const auto compiled = objects.find(i);
        if (compiled != objects.end()) {
            inputs.push_back({.path = compiled->second});
        } else if (argument.kind == Argument::Kind::input) {
            const fs::path path = argument.tokens.front();
            if (path.extension() == ".o" || path.extension() == ".obj" || path.extension() == ".a")
                inputs.push_back({.path = path.string(), .is_archive = path.extension() == ".a"});
        } else if (argument.kind == Argument::Kind::library) {
            if (auto path = find_static_library(line, argument.library))
                inputs.push_back({.path = *path, .is_archive = true});
        }
    }
    return inputs;
}

std::string text_of(llvm::Error error) {
    return llvm::toString(std::move(error));
}

// One architecture's device code, as it grows.
class DeviceModule {
  public:
    DeviceModule() : module_(std::make_unique<llvm::Module>("device", context_)), linker_(*module_) {}

    std::expected<void, Error> add(llvm::StringRef image, const DeviceInput& input) {
        auto parsed = llvm::parseBitcodeFile(llvm::MemoryBufferRef(image, input.path), context_);
        if (!parsed) return std::unexpected(Error{text_of(parsed.takeError()), input.path});
        // A linker takes of an archive what is missing; a second definition would be one too many.
        if (input.is_archive && defines_again(**parsed)) return {};
        if (empty_) {
            module_->setTargetTriple((*parsed)->getTargetTriple());
            module_->setDataLayout((*parsed)->getDataLayout());
            empty_ = false;
        }
        if (linker_.linkInModule(std::move(*parsed)))
            return std::unexpected(Error{"its device code cannot be linked to the others'", input.path});
        return {};
    }

    // Helpers are of use to this module's kernels alone; kernels and variables are known to the host.
    std::expected<void, Error> write(const std::string& path) {
        for (llvm::Function& function : *module_)
            if (!function.isDeclaration() && function.getCallingConv() != llvm::CallingConv::PTX_Kernel &&
                !function.isIntrinsic())
                function.setLinkage(llvm::GlobalValue::InternalLinkage);
        return write_bitcode(*module_, path);
    }

    static std::expected<void, Error> write_bitcode(const llvm::Module& module, const std::string& path) {
        std::error_code error;
        llvm::raw_fd_ostream out(path, error);
        if (error) return std::unexpected(Error{error.message(), path});
        llvm::WriteBitcodeToFile(module, out);
        return {};
    }

  private:
    [[nodiscard]] bool defines_again(const llvm::Module& other) const {
        for (const llvm::GlobalValue& value : other.global_values()) {
            if (value.isDeclaration() || value.hasLocalLinkage() || value.isWeakForLinker() ||
                value.hasAppendingLinkage())
                continue;
            const llvm::GlobalValue* mine = module_->getNamedValue(value.getName());
            if (mine != nullptr && !mine->isDeclaration() && !mine->isWeakForLinker()) return true;
        }
        return false;
    }

    llvm::LLVMContext context_;
    std::unique_ptr<llvm::Module> module_;
    llvm::Linker linker_;
    bool empty_ = true;
};

using DeviceModules = std::map<std::string, std::unique_ptr<DeviceModule>>;  // by architecture

std::expected<DeviceModules, Error> gather(const std::vector<DeviceInput>& inputs) {
    DeviceModules modules;
    for (const DeviceInput& input : inputs) {
        const auto buffer = open(input.path);
        if (!buffer) continue;  // the host's linker says it
        llvm::SmallVector<llvm::object::OffloadFile> files;
        if (llvm::Error error = llvm::object::extractOffloadBinaries(buffer->getMemBufferRef(), files))
            return std::unexpected(Error{text_of(std::move(error)), input.path});
        for (const llvm::object::OffloadFile& file : files) {
            const llvm::object::OffloadBinary& binary = *file.getBinary();
            if (binary.getOffloadKind() != llvm::object::OFK_Cuda) continue;
            if (binary.getImageKind() != llvm::object::IMG_Bitcode)
                return std::unexpected(Error{"its device code was not compiled by trimtab++", input.path});
            auto& module = modules[binary.getArch().str()];
            if (!module) module = std::make_unique<DeviceModule>();
            if (auto added = module->add(binary.getImage(), input); !added)
                return std::unexpected(added.error());
        }
    }
    return modules;
}

// clang's registration of managed variables has HIP's parameters: CUDA's are (handle, pointer, address, name,
// extern, size, constant, global). And the accesses to them (pass/managed_variables.cpp) want the handle.
void complete_managed_registration(llvm::Module& module) {
    llvm::LLVMContext& context = module.getContext();
    auto* address = llvm::PointerType::get(context, 0);
    if (llvm::GlobalVariable* handle = module.getNamedGlobal(".cuda.binary_handle"); handle != nullptr) {
        auto* known =
            new llvm::GlobalVariable(module, address, /*isConstant=*/false, llvm::GlobalValue::WeakAnyLinkage,
                                     handle, "trimtab_linked_device_code");
        known->setVisibility(llvm::GlobalValue::HiddenVisibility);
    }
    llvm::Function* function = module.getFunction("__cudaRegisterManagedVar");
    if (function == nullptr || function->arg_size() != 6) return;
    llvm::SmallVector<llvm::CallInst*, 2> calls;
    for (llvm::User* user : function->users())
        if (auto* call = llvm::dyn_cast<llvm::CallInst>(user)) calls.push_back(call);
    for (llvm::CallInst* call : calls) {
        llvm::IRBuilder<> builder(call);
        llvm::Type* word = builder.getInt32Ty();
        llvm::Type* size = call->getArgOperand(4)->getType();
        llvm::Value* zero = builder.getInt32(0);
        builder.CreateCall(
            llvm::FunctionType::get(builder.getVoidTy(),
                                    {address, address, address, address, word, size, word, word}, false),
            function,
            {call->getArgOperand(0), call->getArgOperand(1), call->getArgOperand(2), call->getArgOperand(3),
             zero, call->getArgOperand(4), zero, zero});
        call->eraseFromParent();
    }
}

// The registration of a fat binary: what clang's own device link makes, by the same library.
std::expected<void, Error> make_registration(const std::string& fat_binary, const Toolchain& tools,
                                             const TemporaryFolder& folder, const std::string& object) {
    const auto image = open(fat_binary);
    if (!image) return std::unexpected(Error{"cannot be read", fat_binary});
    llvm::LLVMContext context;
    llvm::Module module("trimtab.device_link", context);
    module.setTargetTriple(llvm::Triple(llvm::sys::getDefaultTargetTriple()));
    const llvm::ArrayRef<char> bytes(image->getBufferStart(), image->getBufferSize());
    if (llvm::Error error = llvm::offloading::wrapCudaBinary(
            module, bytes, llvm::offloading::getOffloadEntryArray(module), /*Suffix=*/"",
            // Texture and surface references went with CUDA 12.
            /*EmitSurfacesAndTextures=*/false))
        return std::unexpected(Error{text_of(std::move(error))});
    complete_managed_registration(module);
    const std::string bitcode = folder.file("registration.bc");
    if (auto written = DeviceModule::write_bitcode(module, bitcode); !written) return written;
    if (run({tools.clang, "-x", "ir", "-c", "-fPIC", "-O1", "-Wno-override-module", bitcode, "-o", object}) !=
        0)
        return std::unexpected(Error{"the registration of the linked device code cannot be compiled"});
    return {};
}

bool holds(const std::string& path, llvm::StringRef text) {
    const auto content = open(path);
    return content && content->getBuffer().contains(text);
}

}  // namespace

bool wants_device_link(const CommandLine& line, const std::map<std::size_t, std::string>& objects) {
    if (line.relocatable) return false;
    bool any = false;
    for (const DeviceInput& input : device_inputs(line, objects)) {
        const auto buffer = open(input.path);
        if (!buffer) continue;
        // The registration of an earlier device link reads the table of all entries.
        if (buffer->getBuffer().contains("__start_llvm_offload_entries")) return false;
        any |= buffer->getBuffer().contains(".llvm.offloading");
    }
    return any;
}

std::expected<void, Error> device_link(const CommandLine& line, const Toolchain& tools,
                                       const std::map<std::size_t, std::string>& objects,
                                       const TemporaryFolder& folder, const std::string& object) {
    auto modules = gather(device_inputs(line, objects));
    if (!modules) return std::unexpected(modules.error());
    if (modules->empty()) return std::unexpected(Error{"there is no device code to link"});

    const std::string kernel_sources = folder.file("linked_kernels.json");
    std::vector<std::pair<std::string, std::string>> images;
    for (auto& [architecture, module] : *modules) {
        const std::string stem = folder.file("linked." + architecture);
        if (auto written = module->write(stem + ".bc"); !written) return written;
        if (run(device_code_generation_command(line, tools, architecture, stem + ".bc", stem + ".ptx"),
                {{"TRIMTAB_KERNEL_SOURCES", kernel_sources}}) != 0)
            return std::unexpected(Error{"the linked device code cannot be compiled for " + architecture});
        images.emplace_back("ptx," + architecture.substr(3), stem + ".ptx");
        // Kernels that launch kernels call libcudadevrt.
        const bool launches = holds(stem + ".ptx", "__cudaCDP2");
        const bool is_debugged = holds(stem + ".ptx", ".target " + architecture + ", debug");
        Command assemble = assemble_command(line, tools, architecture, stem + ".ptx", is_debugged,
                                            launches ? stem + ".cubin.o" : stem + ".cubin");
        if (launches) assemble.emplace_back("-c");
        if (run(assemble) != 0)
            return std::unexpected(Error{"the linked device code cannot be assembled for " + architecture});
        if (launches && run({tools.cuda + "/bin/nvlink", "-m64", "-arch=" + architecture, stem + ".cubin.o",
                             "-L" + tools.cuda + "/lib64", "-lcudadevrt", "-o", stem + ".cubin"}) != 0)
            return std::unexpected(
                Error{"the device's runtime cannot be linked to the device code for " + architecture});
        images.emplace_back("elf," + architecture.substr(3), stem + ".cubin");
    }
    const std::string fat_binary = folder.file("linked.fatbin");
    if (make_fat_binary(tools, images, fat_binary) != 0)
        return std::unexpected(Error{"the linked device code cannot be put into a fat binary"});
    if (auto made = make_registration(fat_binary, tools, folder, object); !made) return made;

    // Named after the program: its kernels are of several sources.
    const bool annotations_hold = instrument({.input = line.output.empty() ? "a.out" : line.output,
                                              .object = object,
                                              .kernel_sources = kernel_sources},
                                             line, tools, folder);
    if (!annotations_hold) return std::unexpected(Error{"an annotation is wrong:\nsee above"});
    return {};
}

}  // namespace trimtab::wrapper
