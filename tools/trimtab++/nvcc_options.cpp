// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/nvcc_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "clang/Options/Options.h"
#include "core/base/read_text.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "tools/trimtab++/nvcc_option_table.h"

namespace trimtab::wrapper {
namespace {

using Words = std::vector<std::string>;

template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
    return std::ranges::find(range, value) != std::ranges::end(range);
}

// "a,b" as nvcc splits its lists: at commas that are not escaped, quotes taken off; spaces separate too, as
// the shell that nvcc hands a host compiler's options to would.
Words split_list(std::string_view text, bool at_spaces) {
    Words words(1);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\\' && i + 1 < text.size()) {
            words.back() += text[++i];
        } else if (c == ',' || (at_spaces && std::isspace(static_cast<unsigned char>(c)) != 0)) {
            words.emplace_back();
        } else if (c != '"' && c != '\'') {
            words.back() += c;
        }
    }
    std::erase(words, "");
    return words;
}

// Of clang's alone: what follows is for another tool, whatever nvcc would take it for.
bool takes_the_next_word(std::string_view word) {
    static constexpr std::array<std::string_view, 6> names = {
        "-Xcuda-ptxas", "-Xcuda-fatbinary", "-Xclang", "-mllvm", "-Xarch_host", "-Xarch_device"};
    return contains(names, word);
}

bool is_true(std::string_view value) {
    return value == "true" || value == "1" || value == "yes" || value == "on";
}

// -Werror KIND is nvcc's; -Werror alone and -Werror=return-type are clang's.
bool is_error_kind(const std::string& text) {
    static constexpr std::array<std::string_view, 5> kinds = {"all-warnings", "cross-execution-space-call",
                                                              "default-stream-launch",
                                                              "ext-lambda-captures-this", "reorder"};
    return contains(kinds, std::string_view(text).substr(0, text.find(',')));
}

bool clang_knows(const std::string& option) {
    const char* token = option.c_str();
    unsigned missing_index = 0;
    unsigned missing_count = 0;
    const auto parsed = clang::getDriverOptTable().ParseArgs(
        token, missing_index, missing_count, llvm::opt::Visibility(clang::options::ClangOption));
    return !parsed.hasArg(clang::options::OPT_UNKNOWN);
}

// What both compilers call alike, with a value that nvcc lets follow after '=', too: to clang's form of it.
std::optional<Words> shared_option(std::string_view name, const std::string& value) {
    static constexpr std::array<std::string_view, 5> joined = {"I", "L", "l", "D", "U"};
    static constexpr std::array<std::string_view, 5> separate = {"isystem", "include", "o", "MF", "MT"};
    const std::string option = fmt::format("-{}", name);
    if (contains(joined, name)) return Words{option + value};
    if (contains(separate, name)) return Words{option, value};
    return std::nullopt;
}

class Translator {
  public:
    std::expected<NvccOptions, Error> run(Words words) {
        words_ = std::move(words);
        for (at_ = 0; at_ < words_.size(); ++at_) {
            if (auto done = translate(words_[at_]); !done) return std::unexpected(done.error());
        }
        add_architectures();
        return std::move(out_);
    }

  private:
    using Done = std::expected<void, Error>;

    void emit(std::string word) { out_.tokens.push_back(std::move(word)); }
    void emit(std::initializer_list<const char*> words) {
        out_.tokens.insert(out_.tokens.end(), words.begin(), words.end());
    }
    void note(std::string text) {
        if (!contains(out_.notes, text)) out_.notes.push_back(std::move(text));
    }

    // The value of the option at hand: after its '=', else the next word.
    std::expected<std::string, Error> value(const std::string& name,
                                            const std::optional<std::string>& attached) {
        if (attached) return *attached;
        if (at_ + 1 == words_.size()) return std::unexpected(Error{"argument to '" + name + "' is missing"});
        return words_[++at_];
    }

    Done translate(const std::string& word) {
        if (word.size() < 2 || word.front() != '-') {
            emit(word);
            return {};
        }
        // One-letter forms that no table of names can hold.
        if (word == "-O" && next_is([](const std::string& next) {
                return next.size() == 1 && std::isdigit(static_cast<unsigned char>(next.front())) != 0;
            })) {
            emit("-O" + words_[++at_]);
            return {};
        }
        if (word.starts_with("-t") && word.size() > 2 &&
            std::all_of(word.begin() + 2, word.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) {
            return {};
        }
        if (word == "-x" && next_is([](const std::string& next) { return next == "cu"; })) {
            ++at_;
            out_.is_nvcc_style = true;
            emit({"-x", "cuda"});
            return {};
        }
        if (takes_the_next_word(word) && at_ + 1 < words_.size()) {
            emit(word);
            emit(words_[++at_]);
            return {};
        }
        const std::size_t dashes = word[1] == '-' ? 2 : 1;
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(dashes, equals - dashes);
        if (dashes == 1 && equals != std::string::npos) {
            if (const auto shared = shared_option(name, word.substr(equals + 1))) {
                for (const std::string& one : *shared) emit(one);
                return {};
            }
        }
        const NvccOption* option = find_nvcc_option(name, dashes == 2);
        if (option == nullptr ||
            (equals != std::string::npos && option->values == NvccOption::Values::none)) {
            emit(word);
            return {};
        }
        std::optional<std::string> attached;
        if (equals != std::string::npos) attached = word.substr(equals + 1);
        // Words of both compilers take nvcc's sense only where what follows is nvcc's.
        if (option->action == Action::error_kind &&
            !(attached ? is_error_kind(*attached) : next_is(is_error_kind))) {
            emit(word);
            return {};
        }
        if (!option->is_clangs_too) out_.is_nvcc_style = true;
        std::string given;
        if (option->values == NvccOption::Values::one) {
            auto got = value(word, attached);
            if (!got) return std::unexpected(got.error());
            given = std::move(*got);
        }
        return act(*option, given);
    }

    template <class Test>
    bool next_is(Test test) {
        return at_ + 1 < words_.size() && test(words_[at_ + 1]);
    }

    Done act(const NvccOption& option, const std::string& given) {
        switch (option.action) {
            case Action::drop:
                break;
            case Action::drop_said:
                note(fmt::format("-{} is left out: {}", option.short_name, option.text));
                break;
            case Action::rename:
                emit(option.text);
                break;
            case Action::rename_joined:
                emit(option.text + given);
                break;
            case Action::rename_separate:
                emit(option.text);
                emit(option.text == "-x" && given == "cu" ? "cuda" : given);
                break;
            case Action::architecture:
                architecture_ = given;
                break;
            case Action::code:
                code_ = given;
                break;
            case Action::generate_code:
                generate_code(given);
                break;
            case Action::relocatable:
                emit(is_true(given) ? "-fgpu-rdc" : "-fno-gpu-rdc");
                break;
            case Action::device_compile:
                emit({"-c", "-fgpu-rdc"});
                break;
            case Action::device_link:
                out_.output = NvccOutput::device_link;
                break;
            case Action::library:
                out_.output = NvccOutput::library;
                break;
            case Action::ptx:
                out_.output = NvccOutput::ptx;
                break;
            case Action::cubin:
                out_.output = NvccOutput::cubin;
                break;
            case Action::fat_binary:
                out_.output = NvccOutput::fat_binary;
                break;
            case Action::device_debug:
                out_.device_debug = true;
                emit({"-Xarch_device", "-g", "-Xarch_device", "-O0"});
                break;
            case Action::host:
                host_options(given);
                break;
            case Action::linker:
                linker_options(given);
                break;
            case Action::assembler:
                for (const std::string& word : split_list(given, true)) {
                    emit("-Xcuda-ptxas");
                    emit(word);
                }
                break;
            case Action::registers:
                emit("-Xcuda-ptxas");
                emit("-maxrregcount=" + given);
                break;
            case Action::fast_math:
                out_.fast_math = true;
                emit({"-fgpu-approx-transcendentals", "-fgpu-flush-denormals-to-zero", "-Xarch_device",
                      "-mllvm=--nvptx-prec-divf32=0", "-Xarch_device", "-mllvm=--nvptx-prec-sqrtf32=0"});
                break;
            case Action::flush_denormals:
                emit(is_true(given) ? "-fgpu-flush-denormals-to-zero" : "-fno-gpu-flush-denormals-to-zero");
                break;
            case Action::division:
                if (!is_true(given)) emit({"-Xarch_device", "-mllvm=--nvptx-prec-divf32=0"});
                break;
            case Action::square_root:
                if (!is_true(given)) {
                    out_.fast_math = true;
                    emit({"-Xarch_device", "-mllvm=--nvptx-prec-sqrtf32=0"});
                }
                break;
            case Action::contraction:
                emit("-Xarch_device");
                emit(is_true(given) ? "-ffp-contract=fast" : "-ffp-contract=off");
                break;
            case Action::default_stream:
                if (given == "per-thread")
                    emit({"-fgpu-default-stream=per-thread", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"});
                break;
            case Action::error_kind:
                if (given.contains("all-warnings")) emit("-Werror");
                break;
            case Action::output_folder:
                out_.output_folder = given;
                break;
            case Action::options_file:
                return options_file(given);
        }
        return {};
    }

    Done options_file(const std::string& path) {
        for (const std::string& name : split_list(path, false)) {
            const auto text = base::read_text(name);
            if (!text) return std::unexpected(Error{"cannot be read", name});
            Words words;
            // nvcc's options files hold words between spaces; quotes hold words together.
            std::string word;
            char quote = 0;
            for (const char c : *text + " ") {
                if (quote != 0 ? c == quote : (c == '"' || c == '\'')) {
                    quote = quote != 0 ? '\0' : c;
                } else if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
                    if (!word.empty()) words.push_back(std::exchange(word, {}));
                } else {
                    word += c;
                }
            }
            words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, words.begin(), words.end());
        }
        return {};
    }

    // Options for the host compiler: it is clang here. What only changes how code is made must not reach the
    // device; what only gcc has is left out.
    void host_options(const std::string& given) {
        const Words words = split_list(given, true);
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::string& word = words[i];
            if (word.starts_with("-Wl") && word.size() <= 4) {
                // nvcc's own splitting took a linker option apart: -Xcompiler -Wl,-rpath,DIR.
                std::string joined = "-Wl";
                while (++i < words.size()) joined += "," + words[i];
                if (joined.size() > 3) emit(joined);
                break;
            }
            const bool makes_code = word.starts_with("-O") || word.starts_with("-g") ||
                                    word.starts_with("-ffp") || word.contains("math");
            if ((word.starts_with("-f") || word.starts_with("-m")) && !clang_knows(word)) {
                note(word + " is left out: clang has no such option");
            } else {
                if (makes_code) emit("-Xarch_host");
                emit(word);
            }
        }
    }

    // nvcc splits at commas, clang's -Xlinker does not; a comma that belongs to a value stays.
    void linker_options(const std::string& given) {
        const std::size_t comma = given.find(',');
        const bool is_list = given.starts_with('-') && comma < given.find('=');
        for (const std::string& word : is_list ? split_list(given, false) : Words{given}) {
            emit("-Xlinker");
            emit(word);
        }
    }

    // arch=compute_80,code=[sm_80,compute_80], with or without brackets and quotes
    void generate_code(std::string text) {
        std::erase_if(text,
                      [](char c) { return c == '"' || c == '\'' || c == '[' || c == ']' || c == '\\'; });
        std::string architecture;
        Words codes;
        bool in_code = false;
        for (const std::string& word : split_list(text, true)) {
            if (word.starts_with("arch=")) {
                architecture = word.substr(5);
                in_code = false;
            } else if (word.starts_with("code=")) {
                in_code = true;
                codes.push_back(word.substr(5));
            } else if (in_code) {
                codes.push_back(word);
            }
        }
        if (codes.empty()) codes.push_back(architecture);
        for (const std::string& code : codes) add_architecture(code);
    }

    void add_architectures() {
        for (const std::string& architecture : split_list(code_.empty() ? architecture_ : code_, false))
            add_architecture(architecture);
        for (const std::string& architecture : architectures_) emit("--cuda-gpu-arch=" + architecture);
    }

    void add_architecture(std::string name) {
        for (const std::string_view prefix : {"compute_", "lto_"})
            if (name.starts_with(prefix)) name = "sm_" + name.substr(prefix.size());
        if (name == "native" || name == "all" || name == "all-major") {
            if (name == "native") note("-arch=native is sm_75: no GPU is asked");
            // One image is enough: its PTX serves newer GPUs.
            name = "sm_75";
        }
        // sm_100f, not "all-f"
        if (name.size() > 4 && name.ends_with('f') && name.starts_with("sm_")) {
            const std::string generic = name.substr(0, name.size() - 1);
            note(
                fmt::format("{} is compiled as {}: clang makes no code for a family of GPUs", name, generic));
            name = generic;
        }
        if (!contains(architectures_, name)) architectures_.push_back(name);
    }

    Words words_;
    std::size_t at_ = 0;
    NvccOptions out_;
    std::string architecture_, code_;
    Words architectures_;
};

}  // namespace

std::expected<NvccOptions, Error> translate_nvcc_options(const std::vector<std::string>& tokens) {
    return Translator().run(tokens);
}

std::string supported_architecture(const std::string& wanted, unsigned lowest) {
    if (!wanted.starts_with("sm_")) return wanted;
    unsigned number = 0;
    for (const char c : wanted.substr(3)) {
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) break;
        number = number * 10 + static_cast<unsigned>(c - '0');
    }
    return number != 0 && number < lowest ? fmt::format("sm_{}", lowest) : wanted;
}

}  // namespace trimtab::wrapper
