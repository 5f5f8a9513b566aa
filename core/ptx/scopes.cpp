// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/scopes.h"

#include <array>
#include <charconv>

namespace trimtab::ptx {

std::string Scopes::unique(std::string_view name, std::unordered_set<std::string>& used) {
    std::string out(name);
    for (unsigned n = 1; !used.insert(out).second; ++n) out = std::string(name) + "$" + std::to_string(n);
    return out;
}

RegisterIndex Scopes::add_register(std::string name, Type type) {
    function_.registers.push_back({std::move(name), type});
    return static_cast<RegisterIndex>(function_.registers.size() - 1);
}

bool Scopes::declare_register(std::string_view name, Type type, std::uint8_t width) {
    const auto [at, is_new] = scopes_.back().registers.try_emplace(name);
    if (!is_new) return at->second.width == width && function_.registers[at->second.first].type == type;
    const std::string own = unique(name, used_registers_);
    constexpr std::array components = {".x", ".y", ".z", ".w"};
    at->second.width = width;
    for (std::uint8_t i = 0; i < width; ++i) {
        const RegisterIndex reg = add_register(width == 1 ? own : own + components[i & 3u], type);
        if (i == 0) at->second.first = reg;
    }
    return true;
}

void Scopes::declare_registers(std::string_view prefix, std::uint64_t count, Type type) {
    scopes_.back().ranges.push_back({prefix, count, type});
}

std::optional<Scopes::RegisterName> Scopes::find_register(std::string_view name) {
    const std::size_t last = name.find_last_not_of("0123456789");
    const std::string_view prefix = name.substr(0, last + 1), digits = name.substr(last + 1);
    std::uint64_t number = 0;
    bool numbered = !digits.empty() && (digits.size() == 1 || digits[0] != '0');
    if (numbered) {
        numbered = std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc{};
    }
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
        if (const auto found = scope->registers.find(name); found != scope->registers.end())
            return found->second;
        if (!numbered) continue;
        for (const Range& range : scope->ranges) {
            if (number >= range.count || range.prefix != prefix) continue;
            const RegisterName made{add_register(unique(name, used_registers_), range.type), 1};
            scope->registers.emplace(name, made);
            return made;
        }
    }
    return std::nullopt;
}

std::optional<std::string> Scopes::declare_variable(std::string_view name) {
    const auto [at, is_new] = scopes_.back().variables.try_emplace(name);
    if (!is_new) return std::nullopt;
    do {
        at->second = unique(name, used_names_);
    } while (is_taken_(at->second));
    return at->second;
}

const std::string* Scopes::find_variable(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
        if (const auto found = scope->variables.find(name); found != scope->variables.end())
            return &found->second;
    }
    return nullptr;
}

bool Scopes::declare_label(std::string_view name, std::uint32_t instruction) {
    const auto [at, is_new] = scopes_.back().labels.try_emplace(name);
    if (!is_new) return false;
    auto made = function_.labels.emplace(name, instruction);
    for (unsigned n = 1; !made.second; ++n) {
        made = function_.labels.emplace(std::string(name) + "$" + std::to_string(n), instruction);
    }
    at->second = &*made.first;
    return true;
}

void Scopes::settle(const PendingLabel& pending, Label label) {
    if (pending.table != nullptr) {
        (*pending.table)[pending.place] = label->second;
        return;
    }
    Operand& operand = function_.body[pending.instruction].operands[pending.place];
    operand.target = label->second;
    operand.text = label->first;
}

bool Scopes::pop(Token& missing) {
    const Scope scope = std::move(scopes_.back());
    scopes_.pop_back();
    for (const PendingLabel& pending : scope.pending) {
        if (const auto found = scope.labels.find(pending.at.text); found != scope.labels.end()) {
            settle(pending, found->second);
        } else if (scopes_.empty()) {
            missing = pending.at;
            return false;
        } else {
            scopes_.back().pending.push_back(pending);
        }
    }
    return true;
}

}  // namespace trimtab::ptx
