// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ptx/inlined_places.h"

#include <charconv>
#include <string>

#include "core/base/user_file.h"
#include "core/ptx/file_names.h"

namespace trimtab::ptx {
namespace {

constexpr std::size_t max_calls = 256;  // of calls: a text may say that a place is inlined into itself

// "a.h:12:3", its file apart; nothing if it is none.
struct NamedPlace {
    std::string_view file;
    std::uint32_t line = 0, column = 0;
};
std::optional<NamedPlace> named_place(std::string_view text) {
    NamedPlace place;
    for (std::uint32_t* const number : {&place.column, &place.line}) {
        const std::size_t colon = text.rfind(':');
        if (colon == std::string_view::npos) return std::nullopt;
        const std::string_view digits = text.substr(colon + 1);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *number);
        if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
        text = text.substr(0, colon);
    }
    place.file = text;
    return place;
}

// The index of the file that a comment names: as it was given, where .file has its folder too.
std::uint32_t file_index(Module& module, std::string_view written) {
    const std::string name = decode_file_name(written);
    for (const auto& [index, path] : module.files) {
        if (!base::is_user_file(path)) continue;
        if (path == name || (path.ends_with(name) && path[path.size() - name.size() - 1] == '/'))
            return index;
    }
    const std::uint32_t index = module.files.empty() ? 1 : module.files.rbegin()->first + 1;
    module.files.emplace(index, name);
    return index;
}

}  // namespace

SourceLocation InlinedPlaces::note(const SourceLocation& own, std::optional<SourceLocation> inlined_at,
                                   std::string_view comment) {
    Chain chain{{.location = own, .file = {}}};
    if (own.file >= is_chain) return {};
    if (inlined_at) {
        calls_[{own.file, own.line, own.column}] = *inlined_at;
        for (auto call = inlined_at; call && chain.size() < max_calls;) {
            chain.push_back({.location = *call, .file = {}});
            const auto outer = calls_.find({call->file, call->line, call->column});
            call = outer == calls_.end() ? std::nullopt : std::optional(outer->second);
        }
    } else {
        // a.h:5:2 @[ b.h:7:1 @[ c.cu:9:3 ] ]
        constexpr std::string_view opening = " @[ ";
        for (std::size_t at = comment.find(opening);
             at != std::string_view::npos && chain.size() < max_calls;) {
            const std::size_t from = at + opening.size();
            at = comment.find(opening, from);
            std::string_view text = comment.substr(from, at - from);
            text = text.substr(0, text.find(" ]"));
            const auto place = named_place(text);
            if (!place) break;
            chain.push_back(
                {.location = {.file = 0, .line = place->line, .column = place->column}, .file = place->file});
        }
    }
    if (chain.size() == 1) return own;
    chains_.push_back(std::move(chain));
    return {.file = is_chain | static_cast<std::uint32_t>(chains_.size() - 1),
            .line = own.line,
            .column = own.column};
}

SourceLocation InlinedPlaces::user_place(const Chain& chain, Module& module) const {
    for (const Place& place : chain) {
        if (place.location.line == 0) continue;
        const auto path = module.files.find(place.location.file);
        if (place.file.empty() ? path == module.files.end() || !base::is_user_file(path->second)
                               : !base::is_user_file(place.file))
            continue;
        SourceLocation found = place.location;
        if (!place.file.empty()) found.file = file_index(module, place.file);
        return found;
    }
    return chain.front().location;
}

void InlinedPlaces::resolve(Module& module) const {
    if (chains_.empty()) return;
    std::vector<std::optional<SourceLocation>> known(chains_.size());
    for (Function& function : module.functions) {
        for (Instruction& instruction : function.body) {
            if (instruction.location.file < is_chain) continue;
            const std::size_t index = instruction.location.file & ~is_chain;
            if (!known[index]) known[index] = user_place(chains_[index], module);
            instruction.location = *known[index];
        }
    }
}

}  // namespace trimtab::ptx
