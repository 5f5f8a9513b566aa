// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The clang plugin that gives a macro another value: clang++ -fplugin=libtrimtab_macro.so, where
//
//     TRIMTAB_MACRO=BLOCK=128          every definition of BLOCK says 128, the command line's and the sources' alike
//     TRIMTAB_MACRO_REPORT=FILE        what they would have said, as JSON:
//                                      {"defined": true, "function_like": false, "values": [256]}
//
// "values" are those of definitions that the sources make use of, each once, in order; null: no integer
// of 32 bits.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace {

// What the sources say of the macro.
struct AsWritten {
    bool is_function_like = false;
    const clang::MacroInfo* current = nullptr;         // the definition in force
    llvm::SetVector<const clang::MacroInfo*> defined;  // every one
    llvm::SetVector<const clang::MacroInfo*> used;     // those that something expands
};

class Override : public clang::PPCallbacks {
  public:
    Override(clang::Preprocessor& preprocessor, std::string name, std::string value, AsWritten& written)
        : preprocessor_(preprocessor), name_(std::move(name)), value_(std::move(value)), written_(written) {}

    void MacroDefined(const clang::Token& token, const clang::MacroDirective* directive) override {
        const clang::MacroInfo* info = directive->getMacroInfo();
        clang::IdentifierInfo* name = token.getIdentifierInfo();
        if (name == nullptr || name->getName() != name_ || info == nullptr) return;
        written_.current = info;
        written_.defined.insert(info);
        written_.is_function_like |= info->isFunctionLike();
        if (info->isFunctionLike()) return;
        clang::Token number;
        number.startToken();
        number.setKind(clang::tok::numeric_constant);
        preprocessor_.CreateString(value_, number);
        number.setFlag(clang::Token::LeadingSpace);
        clang::MacroInfo* other = preprocessor_.AllocateMacroInfo(info->getDefinitionLoc());
        other->setDefinitionEndLoc(info->getDefinitionEndLoc());
        other->setTokens({number}, preprocessor_.getPreprocessorAllocator());
        preprocessor_.appendDefMacroDirective(name, other, info->getDefinitionLoc());
    }

    void MacroExpands(const clang::Token& token, const clang::MacroDefinition& /*definition*/,
                      clang::SourceRange /*range*/, const clang::MacroArgs* /*arguments*/) override {
        if (token.getIdentifierInfo() != nullptr && token.getIdentifierInfo()->getName() == name_ &&
            written_.current != nullptr)
            written_.used.insert(written_.current);
    }

  private:
    clang::Preprocessor& preprocessor_;
    std::string name_, value_;
    AsWritten& written_;
};

// A definition's text with the macros in it expanded, as they stand at the end of the source.
std::string expanded(clang::Preprocessor& preprocessor, const clang::MacroInfo& info) {
    std::vector<clang::Token> tokens(info.tokens_begin(), info.tokens_end());
    clang::Token end;
    end.startToken();
    end.setKind(clang::tok::eof);
    tokens.push_back(end);
    preprocessor.EnterTokenStream(tokens, /*DisableMacroExpansion=*/false, /*IsReinject=*/false);
    std::string text;
    for (clang::Token token;;) {
        preprocessor.Lex(token);
        if (token.is(clang::tok::eof)) return text;
        text += (text.empty() ? "" : " ") + preprocessor.getSpelling(token);
    }
}

// The integer that an expression of constants is, as C++ reads it.
std::optional<std::int32_t> value_of(const std::string& expression) {
    clang::IgnoringDiagConsumer silent;
    const std::unique_ptr<clang::ASTUnit> unit = clang::tooling::buildASTFromCodeWithArgs(
        "enum : long long { trimtab_value = (" + expression + ") };", {}, "value.cc", "trimtab",
        std::make_shared<clang::PCHContainerOperations>(),
        clang::tooling::getClangStripDependencyFileAdjuster(), {}, &silent);
    if (unit == nullptr || unit->getDiagnostics().hasErrorOccurred()) return std::nullopt;
    for (const clang::Decl* declaration : unit->getASTContext().getTranslationUnitDecl()->decls())
        if (const auto* values = llvm::dyn_cast<clang::EnumDecl>(declaration))
            for (const clang::EnumConstantDecl* value : values->enumerators())
                if (value->getInitVal().isSignedIntN(32))
                    return static_cast<std::int32_t>(value->getInitVal().getExtValue());
    return std::nullopt;
}

void write_report(clang::Preprocessor& preprocessor, const AsWritten& written, const std::string& path) {
    std::vector<std::optional<std::int32_t>> found;
    for (const clang::MacroInfo* definition : written.used) {
        const std::optional<std::int32_t> value = value_of(expanded(preprocessor, *definition));
        if (!llvm::is_contained(found, value)) found.push_back(value);
    }
    llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream& out) {
        llvm::json::OStream json(out);
        json.object([&] {
            json.attribute("defined", !written.defined.empty());
            json.attribute("function_like", written.is_function_like);
            json.attributeArray("values", [&] {
                for (const auto& value : found) json.value(value ? llvm::json::Value(*value) : nullptr);
            });
        });
        return llvm::Error::success();
    });
    if (error) llvm::errs() << "trimtab: " << path << ": " << llvm::toString(std::move(error)) << '\n';
}

class Reporter : public clang::ASTConsumer {
  public:
    Reporter(clang::CompilerInstance& compiler, std::string name, std::string value)
        : preprocessor_(compiler.getPreprocessor()) {
        preprocessor_.addPPCallbacks(
            std::make_unique<Override>(preprocessor_, std::move(name), std::move(value), written_));
    }

    void HandleTranslationUnit(clang::ASTContext& /*context*/) override {
        if (const char* path = secure_getenv("TRIMTAB_MACRO_REPORT"); path != nullptr && *path != '\0')
            write_report(preprocessor_, written_, path);
    }

  private:
    clang::Preprocessor& preprocessor_;
    AsWritten written_;
};

class MacroValue : public clang::PluginASTAction {
  public:
    std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler,
                                                          llvm::StringRef /*file*/) override {
        const char* macro = secure_getenv("TRIMTAB_MACRO");
        if (macro == nullptr) return std::make_unique<clang::ASTConsumer>();
        const auto [name, value] = llvm::StringRef(macro).split('=');
        return std::make_unique<Reporter>(compiler, name.str(), value.str());
    }
    bool ParseArgs(const clang::CompilerInstance& /*compiler*/,
                   const std::vector<std::string>& /*arguments*/) override {
        return true;
    }
    ActionType getActionType() override { return AddBeforeMainAction; }
};

}  // namespace

static const clang::FrontendPluginRegistry::Add<MacroValue> registered("trimtab-macro",
                                                                       "gives a macro another value");
