#include "pass/kernel_sources.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace trimtab::pass {
namespace {

void write_kernel(llvm::json::OStream& json, const llvm::Function& kernel) {
    json.attribute("demangled", llvm::demangle(kernel.getName()));
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
    json.attributeArray("parameters", [&] {
        for (const llvm::Argument& argument : kernel.args())
            json.object([&] { json.attribute("name", argument.getName()); });
    });
}

}  // namespace

void write_kernel_sources(const llvm::Module& module, const std::string& path) {
    llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream& out) {
        llvm::json::OStream json(out, 1);
        json.object([&] {
            json.attributeObject("kernels", [&] {
                for (const llvm::Function& function : module) {
                    if (function.isDeclaration() ||
                        function.getCallingConv() != llvm::CallingConv::PTX_Kernel)
                        continue;
                    json.attributeObject(function.getName(), [&] { write_kernel(json, function); });
                }
            });
        });
        return llvm::Error::success();
    });
    if (error) llvm::errs() << "trimtab: " << path << ": " << llvm::toString(std::move(error)) << '\n';
}

}  // namespace trimtab::pass
