// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pass/macro_bodies.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/CallingConv.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "pass/code_text.h"
#include "pass/source_annotations.h"
#include "trimtab/body_name.h"

namespace trimtab::pass {
namespace {

struct Value {
    std::string macro, architecture, file;
    std::int32_t written = 0, value = 0;
    [[nodiscard]] std::string text() const { return macro + "=" + std::to_string(value); }
};

std::optional<Value> read_value(const llvm::json::Value& json) {
    const llvm::json::Object* object = json.getAsObject();
    if (object == nullptr) return std::nullopt;
    const auto macro = object->getString("macro"), architecture = object->getString("architecture"),
               file = object->getString("file");
    const auto written = object->getInteger("written"), value = object->getInteger("value");
    if (!macro || !architecture || !file || !written || !value) return std::nullopt;
    return Value{.macro = macro->str(),
                 .architecture = architecture->str(),
                 .file = file->str(),
                 .written = static_cast<std::int32_t>(*written),
                 .value = static_cast<std::int32_t>(*value)};
}

void say(const llvm::Twine& text) {
    llvm::errs() << "trimtab++: warning: " << text << '\n';
}

std::vector<Value> read_values(const std::string& list) {
    std::vector<Value> values;
    auto buffer = llvm::MemoryBuffer::getFile(list);
    auto json = buffer ? llvm::json::parse((*buffer)->getBuffer())
                       : llvm::Expected<llvm::json::Value>(llvm::errorCodeToError(buffer.getError()));
    if (!json) {
        say(list + ": " + llvm::toString(json.takeError()));
        return values;
    }
    const llvm::json::Object* object = json->getAsObject();
    const llvm::json::Array* bodies = object == nullptr ? nullptr : object->getArray("bodies");
    if (bodies == nullptr) {
        say(list + ": is no list of bodies");
        return values;
    }
    for (const llvm::json::Value& body : *bodies) {
        if (auto value = read_value(body))
            values.push_back(std::move(*value));
        else
            say(list + ": an entry is no body");
    }
    return values;
}

std::string architecture_of(const llvm::Module& module) {
    for (const llvm::Function& function : module)
        if (function.hasFnAttribute("target-cpu"))
            return function.getFnAttribute("target-cpu").getValueAsString().str();
    return {};
}

std::unique_ptr<llvm::Module> read_module(const std::string& file, llvm::LLVMContext& context) {
    auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!buffer) return nullptr;
    auto module = llvm::parseBitcodeFile((*buffer)->getMemBufferRef(), context);
    if (module) return std::move(*module);
    llvm::consumeError(module.takeError());
    return nullptr;
}

// The kernels as written, as texts, made when first asked for.
class Texts {
  public:
    explicit Texts(const llvm::Module& module) : module_(module) {}
    // Empty: there is nothing of that name.
    const std::string& of(const std::string& name) {
        auto [place, is_new] = texts_.try_emplace(name);
        if (const llvm::GlobalValue* global = is_new ? module_.getNamedValue(name) : nullptr;
            global != nullptr && !global->isDeclaration())
            place->second = code_text(*global);
        return place->second;
    }

  private:
    const llvm::Module& module_;
    std::map<std::string, std::string> texts_;
};

// The name of a variable that the kernel has in common with the one as written, and that is not the same there.
std::optional<std::string> unlike_variable(const llvm::Function& kernel, Texts& written) {
    for (const llvm::GlobalValue* global : reached_from(&kernel))
        if (is_common(*global) && code_text(*global) != written.of(global->getName().str()))
            return llvm::demangle(global->getName());
    return std::nullopt;
}

class Join {
  public:
    Join(llvm::Module& module, KernelVariants& variants)
        : module_(module), variants_(variants), written_(module) {
        for (const auto& [kernel, variant] : variants) macro_of_[kernel->getName().str()] = {};
    }

    bool add(const Value& value) {
        const std::vector<std::string> kernels = kernels_to_add(value);
        if (kernels.empty()) return false;
        std::unique_ptr<llvm::Module> other = read_module(value.file, module_.getContext());
        if (other == nullptr) return false;
        keep_alone(*other, kernels, value);
        const std::vector<llvm::GlobalValue*> opened = open_variables(*other);
        const bool failed = llvm::Linker(module_).linkInModule(std::move(other));
        for (llvm::GlobalValue* variable : opened) variable->setLinkage(llvm::GlobalValue::InternalLinkage);
        if (failed) {
            say(value.text() + ": its device code cannot be joined");
            return false;
        }
        for (const std::string& name : kernels) {
            const llvm::Function* kernel = module_.getFunction(name);
            const std::string of = llvm::demangle(name);
            variants_.insert({kernel, {of, value.written}});
            variants_.insert({module_.getFunction(body_name(name, value.macro, std::to_string(value.value))),
                              {of, value.value}});
        }
        return true;
    }

  private:
    // Those that this value changes.
    std::vector<std::string> kernels_to_add(const Value& value) {
        std::vector<std::string> kernels;
        // Apart, since types of one name get others in a context that has them already.
        llvm::LLVMContext apart;
        const std::unique_ptr<llvm::Module> other = read_module(value.file, apart);
        if (other == nullptr) {
            say(value.text() + ": " + value.file + " cannot be read");
            return kernels;
        }
        for (const llvm::Function& kernel : *other) {
            const std::string name = kernel.getName().str();
            const llvm::Function* written = module_.getFunction(name);
            if (!is_kernel(kernel) || written == nullptr || !is_kernel(*written) ||
                code_text(kernel) == written_.of(name))
                continue;
            const auto [macro, is_new] = macro_of_.try_emplace(name, value.macro);
            if (macro->second != value.macro) {
                if (said_.insert(name + " " + value.macro).second)
                    say(llvm::demangle(name) + " has no bodies by " + value.macro + ": it has variants by " +
                        (macro->second.empty() ? std::string("the source's own list") : macro->second));
                continue;
            }
            if (const auto variable = unlike_variable(kernel, written_)) {
                say(value.text() + ": " + llvm::demangle(name) + " is left out: its variable " + *variable +
                    " is another");
                continue;
            }
            kernels.push_back(name);
        }
        return kernels;
    }

    // Of a module, these kernels, as bodies, and what they reach.
    static void keep_alone(llvm::Module& module, const std::vector<std::string>& names, const Value& value) {
        remove_variant_lists(module);
        std::vector<const llvm::GlobalValue*> kernels;
        for (const std::string& name : names) kernels.push_back(module.getFunction(name));
        keep_annotations(module,
                         [&](const llvm::Value& subject) { return llvm::is_contained(kernels, &subject); });
        for (const char* list : {"llvm.used", "llvm.compiler.used"})
            if (llvm::GlobalVariable* used = module.getNamedGlobal(list); used != nullptr)
                used->eraseFromParent();
        std::vector<llvm::NamedMDNode*> metadata;
        for (llvm::NamedMDNode& node : module.named_metadata())
            if (node.getName() != "llvm.dbg.cu" && node.getName() != "llvm.module.flags")
                metadata.push_back(&node);
        for (llvm::NamedMDNode* node : metadata) node->eraseFromParent();

        const Globals reached = reached_from(kernels);
        std::vector<llvm::GlobalValue*> others;
        for (llvm::GlobalValue& global : module.global_values())
            if (!reached.contains(&global) && !global.hasAppendingLinkage() &&
                global.getSection() != "llvm.metadata")
                others.push_back(&global);
        for (llvm::GlobalValue* global : others) {
            global->replaceAllUsesWith(llvm::PoisonValue::get(global->getType()));
            if (auto* function = llvm::dyn_cast<llvm::Function>(global)) function->dropAllReferences();
        }
        for (llvm::GlobalValue* global : others) global->eraseFromParent();
        for (llvm::GlobalObject& object : module.global_objects()) object.setComdat(nullptr);
        for (llvm::GlobalValue& global : module.global_values())
            if (!global.isDeclaration() && !is_common(global) && !global.hasAppendingLinkage() &&
                global.getSection() != "llvm.metadata")
                global.setLinkage(llvm::GlobalValue::InternalLinkage);
        for (const std::string& name : names) {
            llvm::Function* body = module.getFunction(name);
            body->setLinkage(llvm::GlobalValue::ExternalLinkage);
            body->setName(body_name(name, value.macro, std::to_string(value.value)));
        }
    }

    // The variables that are the kernel's own become those of this module; the ones that it hides are given, and must
    // be hidden again.
    std::vector<llvm::GlobalValue*> open_variables(llvm::Module& other) {
        std::vector<llvm::GlobalValue*> opened;
        for (llvm::GlobalVariable& variable : other.globals()) {
            if (!is_common(variable) || variable.hasAppendingLinkage() ||
                variable.getSection() == "llvm.metadata")
                continue;
            llvm::GlobalVariable* own = module_.getNamedGlobal(variable.getName());
            if (own != nullptr && own->hasLocalLinkage()) {
                own->setLinkage(llvm::GlobalValue::ExternalLinkage);
                opened.push_back(own);
            }
            variable.setInitializer(nullptr);
            variable.setExternallyInitialized(false);
            variable.setLinkage(llvm::GlobalValue::ExternalLinkage);
        }
        return opened;
    }

    llvm::Module& module_;
    KernelVariants& variants_;
    Texts written_;
    std::map<std::string, std::string> macro_of_;  // by kernel; empty: a list of the source
    std::set<std::string> said_;
};

}  // namespace

bool add_macro_bodies(llvm::Module& module, const std::string& list, KernelVariants& variants) {
    const std::string architecture = architecture_of(module);
    Join join(module, variants);
    std::map<std::string, bool> joined;  // by macro
    for (const Value& value : read_values(list))
        if (value.architecture == architecture) joined[value.macro] |= join.add(value);
    bool any = false;
    for (const auto& [macro, has_bodies] : joined) {
        any |= has_bodies;
        if (!has_bodies) say(macro + ": no kernel's code depends on it: there are no variants");
    }
    return any;
}

bool drop_equal_bodies(KernelVariants& variants) {
    std::vector<llvm::Function*> equal;
    std::map<std::string, unsigned> bodies;  // that are left, by what they are bodies of
    for (const auto& [function, variant] : variants) {
        const std::string name = function->getName().str();
        const auto body = read_body_name(name);
        if (!body) continue;
        auto* own = const_cast<llvm::Function*>(function);
        const llvm::Function* kernel = own->getParent()->getFunction(body->kernel);
        if (kernel != nullptr && code_text(*own) == code_text(*kernel))
            equal.push_back(own);
        else
            ++bodies[variant.of];
    }
    if (equal.empty()) return false;
    for (llvm::Function* body : equal) {
        const std::string of = variants.find(body)->second.of;
        const llvm::Function* kernel =
            body->getParent()->getFunction(read_body_name(body->getName())->kernel);
        if (bodies[of] == 0) variants.erase(kernel);
        variants.erase(body);
        keep_annotations(*body->getParent(), [&](const llvm::Value& subject) { return &subject != body; });
        body->eraseFromParent();
    }
    return true;
}

}  // namespace trimtab::pass
