// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/ptx/module.h"

namespace trimtab::ptx {
namespace {

using Renames = std::unordered_map<std::string, std::string>;

bool is_local(const Function& f) {
    return !f.is_extern && !f.is_visible && !f.is_weak;
}
bool is_local(const Variable& v) {
    return !v.is_extern && !v.is_visible && !v.is_weak && !v.is_common;
}

// The stronger definition of a name wins; of two strong ones, none.
enum class Strength : std::uint8_t { declared, common, weak, strong };

Strength strength(const Function& f) {
    if (f.body.empty()) return Strength::declared;
    return f.is_weak ? Strength::weak : Strength::strong;
}

Strength strength(const Variable& v) {
    if (v.is_extern) return Strength::declared;
    if (v.is_common) return Strength::common;
    return v.is_weak ? Strength::weak : Strength::strong;
}

// "8.8" as 808, "sm_90a" as 90: enough to find the newest.
unsigned rank(std::string_view text) {
    unsigned major = 0, minor = 0;
    const std::size_t start = text.find_first_of("0123456789");
    if (start == std::string_view::npos) return 0;
    const char* end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data() + start, end, major);
    if (error == std::errc{} && next != end && *next == '.') std::from_chars(next + 1, end, minor);
    return major * 1000 + minor;
}

bool same_layout(const std::vector<Variable>& a, const std::vector<Variable>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Variable& x, const Variable& y) {
        return x.space == y.space && x.size_bytes == y.size_bytes && x.offset_bytes == y.offset_bytes;
    });
}

class Linker {
  public:
    std::expected<Module, Error> run(std::vector<Module> modules) {
        for (const Module& module : modules) {
            for (const Function& f : module.functions) reserve(f);
            for (const Variable& v : module.variables) reserve(v);
        }
        for (Module& module : modules) {
            if (auto error = header(module)) return std::unexpected(std::move(*error));
            rename_locals(module);
            number_files(module);
            for (Variable& v : module.variables) {
                if (auto error = add(std::move(v), module.origin, out_.variables, variables_, functions_)) {
                    return std::unexpected(std::move(*error));
                }
            }
            for (Function& f : module.functions) {
                if (auto error = add(std::move(f), module.origin, out_.functions, functions_, variables_)) {
                    return std::unexpected(std::move(*error));
                }
            }
        }
        return std::move(out_);
    }

  private:
    struct Place {
        std::size_t index = 0;
        std::string origin;
    };
    using Places = std::unordered_map<std::string, Place>;

    template <class Symbol>
    void reserve(const Symbol& symbol) {
        if (!is_local(symbol)) taken_.insert(symbol.name);
    }

    std::optional<Error> header(const Module& module) {
        if (out_.origin.empty() && out_.version.empty()) {
            out_.origin = module.origin;
            out_.address_bits = module.address_bits;
        }
        if (module.address_bits != out_.address_bits) {
            return Error{"its addresses have " + std::to_string(module.address_bits) + " bits, those of " +
                             out_.origin + " " + std::to_string(out_.address_bits),
                         module.origin};
        }
        if (rank(module.version) > rank(out_.version)) out_.version = module.version;
        if (rank(module.target) > rank(out_.target)) out_.target = module.target;
        for (const std::string& option : module.target_options) {
            auto& options = out_.target_options;
            if (std::find(options.begin(), options.end(), option) == options.end()) options.push_back(option);
        }
        return std::nullopt;
    }

    void rename_locals(Module& module) {
        Renames renames;
        const auto rename = [&](auto& symbol) {
            if (!is_local(symbol)) return;
            std::string name = symbol.name;
            for (unsigned n = 1; !taken_.insert(name).second; ++n)
                name = symbol.name + "$" + std::to_string(n);
            if (name == symbol.name) return;
            renames.emplace(symbol.name, name);
            symbol.name = std::move(name);
        };
        for (Variable& v : module.variables) rename(v);
        for (Function& f : module.functions) rename(f);
        if (renames.empty()) return;
        for (Variable& v : module.variables) {
            for (Variable::Relocation& relocation : v.relocations) apply(renames, relocation.symbol);
        }
        for (Function& f : module.functions) {
            for (auto& [name, targets] : f.call_targets) {
                for (std::string& target : targets) apply(renames, target);
            }
            // A name of the body's own is never that of a symbol of its module: parse() sees to it.
            for (Instruction& instruction : f.body) {
                for (Operand& operand : instruction.operands) apply(renames, operand);
            }
        }
    }

    static void apply(const Renames& renames, std::string& name) {
        if (const auto found = renames.find(name); found != renames.end()) name = found->second;
    }

    static void apply(const Renames& renames, Operand& operand) {
        if (operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::address) {
            apply(renames, operand.text);
        }
        for (Operand& element : operand.elements) apply(renames, element);
    }

    void number_files(Module& module) {
        std::unordered_map<std::uint32_t, std::uint32_t> numbers;
        for (const auto& [number, name] : module.files) {
            const auto [at, is_new] =
                files_.try_emplace(name, static_cast<std::uint32_t>(out_.files.size() + 1));
            if (is_new) out_.files.emplace(at->second, name);
            numbers[number] = at->second;
        }
        for (Function& f : module.functions) {
            for (Instruction& instruction : f.body) {
                const auto found = numbers.find(instruction.location.file);
                instruction.location.file = found == numbers.end() ? 0 : found->second;
            }
        }
    }

    template <class Symbol>
    std::optional<Error> add(Symbol symbol, const std::string& origin, std::vector<Symbol>& out,
                             Places& places, const Places& others) {
        if (const auto other = others.find(symbol.name); other != others.end()) {
            return Error{
                "'" + symbol.name + "' is a function here and a variable there: see " + other->second.origin,
                origin, symbol.line};
        }
        const auto [at, is_new] = places.try_emplace(symbol.name, Place{out.size(), origin});
        if (is_new) {
            out.push_back(std::move(symbol));
            return std::nullopt;
        }
        Symbol& before = out[at->second.index];
        if (strength(before) == Strength::strong && strength(symbol) == Strength::strong) {
            return Error{"'" + symbol.name + "' is defined already in " + at->second.origin, origin,
                         symbol.line};
        }
        if (!agree(before, symbol)) {
            return Error{"'" + symbol.name + "' is declared differently in " + at->second.origin, origin,
                         symbol.line};
        }
        if (strength(symbol) > strength(before) || is_larger_common(symbol, before)) {
            before = std::move(symbol);
            at->second.origin = origin;
        }
        return std::nullopt;
    }

    static bool agree(const Function& a, const Function& b) {
        return a.is_entry == b.is_entry && same_layout(a.parameters, b.parameters) &&
               same_layout(a.returns, b.returns);
    }

    static bool agree(Variable& before, Variable& symbol) {
        if (before.space != symbol.space) return false;
        // Dynamic shared memory is as aligned as any of its declarations asks.
        before.alignment_bytes = symbol.alignment_bytes =
            std::max(before.alignment_bytes, symbol.alignment_bytes);
        if (before.is_common && symbol.is_common) return true;
        return before.size_bytes == symbol.size_bytes || before.size_bytes == 0 || symbol.size_bytes == 0;
    }

    static bool is_larger_common(const Function&, const Function&) { return false; }
    static bool is_larger_common(const Variable& symbol, const Variable& before) {
        return symbol.is_common && before.is_common && symbol.size_bytes > before.size_bytes;
    }

    Module out_;
    std::unordered_set<std::string> taken_;  // names of global symbols, and of locals so far
    Places functions_, variables_;
    std::unordered_map<std::string, std::uint32_t> files_;
};

}  // namespace

std::expected<Module, Error> link(std::vector<Module> modules) {
    if (modules.empty()) return std::unexpected(Error{"there is nothing to link"});
    if (modules.size() == 1) return std::move(modules.front());
    return Linker().run(std::move(modules));
}

}  // namespace trimtab::ptx
