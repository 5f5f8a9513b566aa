// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/macro_variants.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/base/json_value.h"
#include "core/base/read_text.h"
#include "tools/trimtab++/compile_as_nvcc.h"
#include "tools/trimtab++/jobs.h"

namespace trimtab::wrapper {
namespace {

using Json = nlohmann::json;

// What a macro says in the source: pass/macro_value.cpp writes it.
struct Definitions {
    bool any = false, function_like = false;
    std::vector<std::optional<std::int32_t>> values;
};

std::optional<Definitions> read_definitions(const std::string& path) {
    const auto json = base::parse_json(base::read_text(path).value_or(""), path);
    if (!json) return std::nullopt;
    const auto read = base::read_json(*json, "report", path, [](const base::JsonValue& report) {
        Definitions definitions{.any = report["defined"].boolean(),
                                .function_like = report["function_like"].boolean(),
                                .values = {}};
        for (const base::JsonValue& value : report["values"].list())
            definitions.values.push_back(
                value.is_null() ? std::nullopt : std::optional(value.integer(INT32_MIN, INT32_MAX)));
        return definitions;
    });
    if (!read) return std::nullopt;
    return *read;
}

// Why the macro has no variants; empty: its one value is an integer.
std::string fault_of(const Definitions& definitions) {
    if (!definitions.any) return "it is no macro of this source";
    if (definitions.function_like) return "it is a macro with parameters";
    if (definitions.values.empty()) return "nothing reads it";
    if (definitions.values.size() > 1) return "the source gives it several values";
    return definitions.values.front() ? "" : "its value is no integer of 32 bits";
}

struct Body {
    std::string macro, architecture, file;
    std::int32_t written = 0, value = 0;
    [[nodiscard]] std::string text() const { return fmt::format("{}={}", macro, value); }
};

// The line of the compiler's first error.
std::string first_error(const std::string& messages) {
    const std::string said = base::read_text(messages).value_or("");
    std::string first;
    for (std::size_t at = 0; at < said.size();) {
        const std::size_t end = std::min(said.find('\n', at), said.size());
        std::string text = said.substr(at, end - at);
        if (text.contains("error")) return text;
        if (first.empty()) first = std::move(text);
        at = end + 1;
    }
    return first;
}

class VariantCompile {
  public:
    explicit VariantCompile(const SourceCompile& source) : source_(source) {}

    void compile_bodies() {
        for (const MacroVariants& macro : source_.line.variants) compile_bodies(macro);
    }
    [[nodiscard]] bool has_bodies() const { return !bodies_.empty(); }

    [[nodiscard]] std::string list_file() const {
        Json list = Json::array();
        for (const Body& body : bodies_)
            list.push_back({{"macro", body.macro},
                            {"written", body.written},
                            {"value", body.value},
                            {"architecture", body.architecture},
                            {"file", body.file}});
        std::string path = path_of("bodies.json");
        std::ofstream(path) << Json{{"bodies", std::move(list)}};
        return path;
    }

    // After a compile that failed with the bodies: leaves out those that do not make a cubin by themselves.
    // False: none did.
    bool drop_what_cannot_be_assembled() {
        const std::size_t before = bodies_.size();
        for (std::size_t i = 0; i < bodies_.size();) {
            const Body body = bodies_[i];
            if (compile(body, /*assembles=*/true) == 0) {
                ++i;
                continue;
            }
            leave_out(body);
            std::erase_if(bodies_, [&](const Body& other) { return other.text() == body.text(); });
        }
        return bodies_.size() != before;
    }

    void warn(const std::string& text) {
        said_ += fmt::format("trimtab++: warning: {}: {}\n",
                             source_.line.arguments[source_.input].tokens.front(), text);
    }
    [[nodiscard]] const std::string& said() const { return said_; }
    [[nodiscard]] std::string path_of(const std::string& name) const {
        return source_.folder.file(std::to_string(source_.input) + "-" + name);
    }

  private:
    void compile_bodies(const MacroVariants& macro) {
        std::optional<std::int32_t> written;
        for (const std::int32_t value : macro.values) {
            if (value == written) continue;
            std::vector<Body> compiled;
            bool failed = false;
            for (const std::string& architecture : architectures(source_.line, source_.tools)) {
                Body body{.macro = macro.name,
                          .architecture = architecture,
                          .file = path_of(fmt::format("{}-{}-{}.bc", macro.name, value, architecture)),
                          .written = 0,
                          .value = value};
                const int code = compile(body, /*assembles=*/false);
                if (!written) {
                    const auto definitions = read_definitions(path_of("macro.json"));
                    const std::string fault = definitions ? fault_of(*definitions) : "";
                    if (!fault.empty()) return warn(fmt::format("{} has no variants: {}", macro.name, fault));
                    if (definitions) written = definitions->values.front();
                }
                if (code != 0) {
                    if (value != written) leave_out(body);
                    failed = true;
                    break;
                }
                body.written = written.value_or(0);
                compiled.push_back(std::move(body));
            }
            if (!failed && written && value != *written)
                std::ranges::move(compiled, std::back_inserter(bodies_));
        }
    }

    // The source's device code with the body's value; bitcode that no pass has seen, or a cubin.
    [[nodiscard]] int compile(const Body& body, bool assembles) {
        Command command = compile_command(source_.line, source_.tools, source_.input,
                                          assembles ? path_of("body.cubin") : body.file);
        command.insert(command.end(), {"--cuda-device-only", "--no-cuda-gpu-arch=all",
                                       "--cuda-gpu-arch=" + body.architecture, "-w",
                                       "-fplugin=" + source_.tools.macro_plugin, "-Qunused-arguments"});
        if (!assembles) command.insert(command.end(), {"-emit-llvm", "-Xclang", "-disable-llvm-passes"});
        return compile_as_nvcc(
            source_, command,
            {{"TRIMTAB_MACRO", body.text()}, {"TRIMTAB_MACRO_REPORT", path_of("macro.json")}},
            path_of("body.messages"));
    }

    void leave_out(const Body& body) {
        warn(fmt::format("{} is left out, it does not compile: {}", body.text(),
                         first_error(path_of("body.messages"))));
    }

    const SourceCompile& source_;
    std::vector<Body> bodies_;
    std::string said_;
};

}  // namespace

std::string no_other_bodies(const CommandLine& line) {
    if (line.relocatable_device_code) return "relocatable device code gets its kernels at the device link";
    if (line.link_time_optimization) return "under -flto kernels keep their blocks";
    if (line.nvcc.output != NvccOutput::as_clang && line.nvcc.output != NvccOutput::library)
        return "device code by itself has no launches";
    if (line.mode == Mode::other || line.device_only || line.host_only) return "this builds no object";
    return {};
}

std::string no_macro_variants(const CommandLine& line) {
    return line.variants.empty() || !line.compiles_cuda() ? std::string() : no_other_bodies(line);
}

int compile_with_variants(const SourceCompile& source, const std::string& object,
                          const Environment& environment) {
    const Command command = compile_command(source.line, source.tools, source.input, object);
    if (source.line.variants.empty() || !no_macro_variants(source.line).empty())
        return compile_as_nvcc(source, command, environment);
    VariantCompile variants(source);
    variants.compile_bodies();
    const std::string messages = variants.path_of("messages");
    const auto compile = [&] {
        Environment with_bodies = environment;
        if (variants.has_bodies()) with_bodies.emplace_back("TRIMTAB_MACRO_BODIES", variants.list_file());
        return compile_as_nvcc(source, command, with_bodies, messages);
    };
    int code = compile();
    // Memory that one block cannot have is found out by the assembler, of a whole module.
    if (code != 0 && variants.has_bodies() && variants.drop_what_cannot_be_assembled()) code = compile();
    if (code != 0 && variants.has_bodies()) {
        const std::string why = first_error(messages);
        code = compile_as_nvcc(source, command, environment, messages);
        if (code == 0) variants.warn("no variants: the source does not compile with them: " + why);
    }
    std::fputs(base::read_text(messages).value_or("").c_str(), stderr);
    if (code == 0) std::fputs(variants.said().c_str(), stderr);
    return code;
}

}  // namespace trimtab::wrapper
