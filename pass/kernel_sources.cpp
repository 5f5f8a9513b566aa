// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/kernel_sources.h"

#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "pass/code_text.h"
#include "trimtab/body_name.h"

namespace trimtab::pass {
namespace {

// What clang makes of TRIMTAB_TUNE: __attribute__((annotate("trimtab: ..."))), a list of {function, text,
// file, line, arguments}.
void write_annotations(llvm::json::OStream& json, const llvm::Function& kernel) {
    const llvm::GlobalVariable* list = kernel.getParent()->getGlobalVariable("llvm.global.annotations");
    const auto* entries = list != nullptr && list->hasInitializer()
                              ? llvm::dyn_cast<llvm::ConstantArray>(list->getInitializer())
                              : nullptr;
    if (entries == nullptr) return;
    constexpr llvm::StringLiteral prefix("trimtab: ");
    json.attributeArray("annotations", [&] {
        for (const llvm::Use& use : entries->operands()) {
            const auto* entry = llvm::dyn_cast<llvm::ConstantStruct>(use);
            llvm::StringRef text, file;
            if (entry == nullptr || entry->getNumOperands() < 4 ||
                entry->getOperand(0)->stripPointerCasts() != &kernel ||
                !llvm::getConstantStringInfo(entry->getOperand(1), text) || !text.consume_front(prefix))
                continue;
            llvm::getConstantStringInfo(entry->getOperand(2), file);
            const auto* line = llvm::dyn_cast<llvm::ConstantInt>(entry->getOperand(3));
            json.object([&] {
                json.attribute("text", text);
                json.attribute("file", file);
                if (line != nullptr) json.attribute("line", line->getZExtValue());
            });
        }
    });
}

void write_kernel(llvm::json::OStream& json, const llvm::Function& kernel, const KernelVariants& variants) {
    const std::string name = kernel.getName().str();
    const auto body = read_body_name(name);
    json.attribute("demangled",
                   body ? readable_body_name(llvm::demangle(body->kernel), *body) : llvm::demangle(name));
    if (const llvm::DISubprogram* program = kernel.getSubprogram()) {
        llvm::SmallString<256> file(program->getFilename());
        if (!llvm::sys::path::is_absolute(file) && llvm::StringRef(file).contains("..")) {
            llvm::SmallString<256> absolute(program->getDirectory());
            llvm::sys::path::append(absolute, file);
            file = absolute;
        }
        json.attribute("file", llvm::StringRef(file));
        json.attribute("line", program->getLine());
    }
    if (const auto variant = variants.find(&kernel); variant != variants.end())
        json.attributeObject("variant", [&] {
            json.attribute("of", variant->second.of);
            json.attribute("value", variant->second.value);
        });
    write_annotations(json, kernel);
    json.attributeArray("parameters", [&] {
        for (const llvm::Argument& argument : kernel.args())
            json.object([&] { json.attribute("name", argument.getName()); });
    });
}

void write_whole(const std::string& path, llvm::function_ref<void(llvm::raw_ostream&)> write) {
    llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream& out) {
        write(out);
        return llvm::Error::success();
    });
    if (error) llvm::errs() << "trimtab: " << path << ": " << llvm::toString(std::move(error)) << '\n';
}

}  // namespace

void write_kernel_sources(const llvm::Module& module, const KernelVariants& variants,
                          const std::string& path) {
    write_whole(path, [&](llvm::raw_ostream& out) {
        llvm::json::OStream json(out, 1);
        json.object([&] {
            json.attributeObject("kernels", [&] {
                for (const llvm::Function& function : module) {
                    if (!is_kernel(function)) continue;
                    json.attributeObject(function.getName(), [&] { write_kernel(json, function, variants); });
                }
            });
        });
    });
}

namespace {

// The object of kernels in a file that was written before; what is wrong was said then.
class Sources {
  public:
    explicit Sources(const std::string& path) {
        const auto buffer = llvm::MemoryBuffer::getFile(path);
        if (!buffer) return;
        auto json = llvm::json::parse((*buffer)->getBuffer());
        if (!json) {
            llvm::consumeError(json.takeError());
            return;
        }
        file_ = std::move(*json);
        if (llvm::json::Object* file = file_.getAsObject(); file != nullptr)
            kernels_ = file->getObject("kernels");
    }
    // Null: it cannot be read.
    [[nodiscard]] llvm::json::Object* kernels() const { return kernels_; }
    void write(const std::string& path) const {
        write_whole(path, [&](llvm::raw_ostream& out) { out << llvm::formatv("{0:1}", file_); });
    }

  private:
    llvm::json::Value file_ = nullptr;
    llvm::json::Object* kernels_ = nullptr;
};

}  // namespace

std::set<std::string> kernels_as_written(const std::string& path) {
    std::set<std::string> names;
    const Sources sources(path);
    if (sources.kernels() == nullptr) return names;
    for (const auto& [name, kernel] : *sources.kernels()) {
        const llvm::json::Object* members = kernel.getAsObject();
        const llvm::json::Array* annotations =
            members == nullptr ? nullptr : members->getArray("annotations");
        if (members != nullptr && members->getObject("variant") == nullptr &&
            (annotations == nullptr || annotations->empty()) && !read_body_name(name.str()))
            names.insert(name.str());
    }
    return names;
}

void add_bodies(const std::map<std::string, std::string>& kernels, const std::string& path) {
    const Sources sources(path);
    if (sources.kernels() == nullptr) return;
    for (const auto& [name, of] : kernels) {
        const llvm::json::Object* kernel = sources.kernels()->getObject(of);
        if (kernel == nullptr) continue;
        const auto body = read_body_name(name);
        llvm::json::Object members = *kernel;
        members["demangled"] = readable_body_name(llvm::demangle(of), *body);
        std::int64_t threads = 0;
        llvm::StringRef(body->value.data(), body->value.size()).getAsInteger(10, threads);
        members["variant"] = llvm::json::Object{
            {"of", read_coarsened_body(name) ? threads_of(of) : built_in_block_of(of)}, {"value", threads}};
        (*sources.kernels())[name] = std::move(members);
    }
    sources.write(path);
}

void forget_variants(const KernelVariants& left, const std::string& path) {
    const Sources sources(path);
    llvm::json::Object* kernels = sources.kernels();
    if (kernels == nullptr) return;
    llvm::StringSet<> names;
    for (const auto& [kernel, variant] : left) names.insert(kernel->getName());
    std::vector<std::string> gone;
    for (auto& [name, kernel] : *kernels) {
        if (names.contains(name.str()) || read_built_in_body(name.str()) || read_coarsened_body(name.str()))
            continue;
        if (read_body_name(name.str()))
            gone.push_back(name.str());
        else if (llvm::json::Object* members = kernel.getAsObject(); members != nullptr)
            members->erase("variant");
    }
    for (const std::string& name : gone) kernels->erase(name);
    sources.write(path);
}

}  // namespace trimtab::pass
