// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/refused_forms.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "tools/trimtab++/shared_variables.h"
#include "tools/trimtab++/source_text.h"
#include "tools/trimtab++/word.h"

namespace trimtab::wrapper {
namespace {

// A message begins with one text and has another one in it.
struct Said {
    RefusedForm form;
    std::string_view begins, contains;
};
constexpr std::array<Said, 10> errors{{
    {RefusedForm::constructed_shared_variable,
     "error: initialization is not supported for __shared__ variables", ""},
    {RefusedForm::own_template_arguments, "error: function template partial specialization is not allowed",
     ""},
    {RefusedForm::ambiguous_empty_braces, "error: use of overloaded operator '=' is ambiguous", ""},
    // By the note below it.
    {RefusedForm::no_device_word, "error: out-of-line definition of ", ""},
    {RefusedForm::no_host_word, "error: __device__ function ",
     " cannot overload __host__ __device__ function "},
    {RefusedForm::no_word, "error: __host__ function ", " cannot overload __host__ __device__ function "},
    // At the note below it.
    {RefusedForm::no_word_before, "error: __host__ __device__ function ",
     " cannot overload __host__ function "},
    {RefusedForm::host_word_too_many, "error: __host__ __device__ function ",
     " cannot overload __device__ function "},
    {RefusedForm::no_host_word_before, "error: __host__ __device__ function ",
     " cannot overload __device__ function "},
    {RefusedForm::copied_built_in, "error: call to deleted constructor of '", "__cuda_builtin_"},
}};

// The member that was declared differs from the definition in these words alone.
bool is_near_miss(const std::vector<ClangMessage>& messages, std::size_t error) {
    for (std::size_t i = error + 1; i < messages.size() && messages[i].text.starts_with("note: "); ++i)
        if (messages[i].text.starts_with("note: member declaration nearly matches")) return true;
    return false;
}

// What the note says that the error is about.
const ClangMessage* previous_declaration(const std::vector<ClangMessage>& messages, std::size_t error) {
    for (std::size_t i = error + 1; i < messages.size() && messages[i].text.starts_with("note: "); ++i)
        if (messages[i].text.starts_with("note: previous declaration is here")) return &messages[i];
    return nullptr;
}

// Where the form stands that an error tells of; null: it is not this form.
const ClangMessage* place_of(const std::vector<ClangMessage>& messages, std::size_t error, RefusedForm form) {
    const ClangMessage* const previous = previous_declaration(messages, error);
    const bool is_of_clang = previous != nullptr && previous->path.contains("/lib/clang/");
    switch (form) {
        case RefusedForm::no_device_word:
            return is_near_miss(messages, error) ? &messages[error] : nullptr;
        case RefusedForm::no_word_before:
        case RefusedForm::no_host_word_before:
            return is_of_clang ? nullptr : previous;
        case RefusedForm::host_word_too_many:
            return is_of_clang ? &messages[error] : nullptr;
        default:
            return &messages[error];
    }
}

std::string last_word(std::string_view text) {
    std::size_t end = text.size();
    while (end > 0 && !is_word(text[end - 1])) --end;
    std::size_t begin = end;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    return std::string(text.substr(begin, end - begin));
}

using Change = std::function<bool(std::string& text, std::size_t at)>;

// template <typename T, int n> void f<T, n>(T): the arguments behind the name at `at`, which are the parameters' names in
// their order, become white space. A real partial specialization is left to clang.
bool drop_own_arguments(std::string& text, std::size_t at) {
    std::size_t open = at;
    while (open < text.size() && is_word(text[open])) ++open;
    open = text.find_first_not_of(white_space, open);
    if (open == std::string::npos || text[open] != '<') return false;
    const auto end = past_bracket(text, open, '<', '>');
    const std::size_t header = text.rfind("template", at);
    const std::size_t parameters = header == std::string::npos ? header : text.find('<', header);
    if (!end || parameters >= at) return false;
    const auto parameters_end = past_bracket(text, parameters, '<', '>');
    if (!parameters_end || *parameters_end > at) return false;
    std::string given = text.substr(open + 1, *end - open - 2), names;
    std::erase_if(given, [](char c) { return white_space.contains(c); });
    std::size_t begin = parameters + 1;
    for (std::size_t i = begin; i < *parameters_end; ++i)
        if (text[i] == ',' || i + 1 == *parameters_end) {
            names += (names.empty() ? "" : ",") + last_word(std::string_view(text).substr(begin, i - begin));
            begin = i + 1;
        }
    if (given != names) return false;
    for (std::size_t i = open; i < *end; ++i)
        if (text[i] != '\n') text[i] = ' ';
    return true;
}

// Where what is assigned to begins: names, members, calls and indices that end at `end`.
std::size_t begin_of_operand(std::string_view text, std::size_t end) {
    std::size_t begin = end;
    while (begin > 0) {
        const char last = text[begin - 1];
        if (last == ']' || last == ')') {
            const char opens = last == ']' ? '[' : '(';
            int depth = 0;
            do {
                --begin;
                depth += text[begin] == last ? 1 : text[begin] == opens ? -1 : 0;
            } while (begin > 0 && depth > 0);
            if (depth > 0) return end;
        } else if (is_word(last) || last == '.' || last == ':') {
            --begin;
        } else if (last == '>' && begin > 1 && text[begin - 2] == '-') {
            begin -= 2;
        } else {
            break;
        }
    }
    return begin;
}

// x = {}: braces of x's own type, at the '='.
bool give_braces_a_type(std::string& text, std::size_t at) {
    if (at >= text.size() || text[at] != '=' || at == 0) return false;
    const std::size_t open = text.find_first_not_of(white_space, at + 1);
    if (open == std::string::npos || text[open] != '{') return false;
    const std::size_t close = text.find_first_not_of(white_space, open + 1);
    const std::size_t last = text.find_last_not_of(white_space, at - 1);
    if (close == std::string::npos || text[close] != '}' || last == std::string::npos) return false;
    std::size_t begin = begin_of_operand(text, last + 1);
    if (begin > last) return false;
    while (begin > 0 && text[begin - 1] == '*') --begin;
    const std::string operand = text.substr(begin, last + 1 - begin);
    if (operand.contains('\n')) return false;
    text.insert(open, "typename std::remove_reference<decltype((" + operand + "))>::type");
    return true;
}

Change add_words(std::string_view words) {
    return [words](std::string& text, std::size_t at) {
        const auto begin = begin_of_declaration(text, at);
        if (begin) text.insert(*begin, words);
        return begin.has_value();
    };
}

bool drop_host_word(std::string& text, std::size_t at) {
    constexpr std::string_view word = "__host__";
    const auto begin = begin_of_declaration(text, at);
    const std::size_t found = begin ? text.find(word, *begin) : std::string::npos;
    if (found == std::string::npos || found > at) return false;
    text.replace(found, word.size(), std::string(word.size(), ' '));
    return true;
}

// The first of threadIdx, blockIdx, blockDim and gridDim behind `at`: as the type that nvcc gives it.
bool give_built_in_its_type(std::string& text, std::size_t at) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> types{
        {{"threadIdx", "uint3"}, {"blockIdx", "uint3"}, {"blockDim", "dim3"}, {"gridDim", "dim3"}}};
    while (at < text.size() && text[at] != ';') {
        std::size_t end = at;
        while (end < text.size() && is_word(text[end])) ++end;
        for (const auto& [name, type] : types) {
            if (std::string_view(text).substr(at, end - at) != name) continue;
            text.replace(at, end - at, std::string(type) + "(" + std::string(name) + ")");
            return true;
        }
        at = std::max(end, at + 1);
    }
    return false;
}

// At each place once, from the last one to the first: those before it stay where they are.
std::optional<std::string> changed_at(const std::string& text, const std::vector<SourcePlace>& places,
                                      const Change& change) {
    const std::vector<std::size_t> lines = line_begins(text);
    std::string changed = text;
    const std::set<SourcePlace> apart(places.begin(), places.end());
    for (auto place = apart.rbegin(); place != apart.rend(); ++place) {
        if (place->line == 0 || place->line > lines.size()) return std::nullopt;
        if (!change(changed, lines[place->line - 1] + place->column - 1)) return std::nullopt;
    }
    return changed;
}

}  // namespace

std::optional<Refusal> refusal_in(const std::string& messages) {
    const std::vector<ClangMessage> all = placed_messages(messages);
    for (const Said& said : errors) {
        Refusal refusal{.form = said.form, .places = {}};
        for (std::size_t i = 0; i < all.size(); ++i)
            if (all[i].text.starts_with(said.begins) && all[i].text.contains(said.contains))
                if (const ClangMessage* const at = place_of(all, i, said.form))
                    refusal.places[at->path].push_back(at->place);
        if (!refusal.places.empty()) return refusal;
    }
    return std::nullopt;
}

std::optional<std::string> with_accepted_form(const std::string& text, RefusedForm form,
                                              const std::vector<SourcePlace>& places) {
    switch (form) {
        case RefusedForm::constructed_shared_variable:
            return with_unconstructed_variables(text, places);
        case RefusedForm::own_template_arguments:
            return changed_at(text, places, drop_own_arguments);
        case RefusedForm::ambiguous_empty_braces:
            return changed_at(text, places, give_braces_a_type);
        case RefusedForm::no_device_word:
            return changed_at(text, places, add_words("__device__ "));
        case RefusedForm::no_host_word:
        case RefusedForm::no_host_word_before:
            return changed_at(text, places, add_words("__host__ "));
        case RefusedForm::host_word_too_many:
            return changed_at(text, places, drop_host_word);
        case RefusedForm::no_word:
        case RefusedForm::no_word_before:
            return changed_at(text, places, add_words("__host__ __device__ "));
        case RefusedForm::copied_built_in:
            return changed_at(text, places, give_built_in_its_type);
    }
    return std::nullopt;
}

}  // namespace trimtab::wrapper
