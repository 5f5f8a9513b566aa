// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver_gen/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "driver_gen/c_driver.h"
#include "driver_gen/c_text.h"
#include "driver_gen/record.h"
#include "trimtab/section.h"

namespace trimtab::driver_gen {

namespace {

// Distinct file names for kernels whose mangled names may be alike or very long.
std::string file_name(const analysis::KernelDescription& description, CNames& names) {
    std::string base = description.name.substr(0, 120);
    const std::size_t paren = description.demangled.find('(');
    if (!description.demangled.empty() && paren != 0) {
        const std::string plain = description.demangled.substr(0, paren);
        if (plain.size() <= 60) base = plain;
    }
    return names.unique(base) + ".driver.c";
}

nlohmann::json record_json(const Bundle& bundle, const std::vector<std::string>& driver_texts,
                           const model::RationalProgram& program) {
    nlohmann::json kernels = nlohmann::json::array();
    std::size_t driver = 0;
    for (const BundleKernel& kernel : bundle.kernels) {
        nlohmann::json entry{{"description", analysis::to_json(*kernel.description)}};
        if (kernel.profile && kernel.fits) {
            entry["profile"] = profiler::to_json(*kernel.profile);
            entry["fits"] = to_json(*kernel.fits);
            entry["driver_source"] = driver_texts[driver++];
        } else if (!kernel.no_driver.empty()) {
            entry["no_driver"] = kernel.no_driver;
        }
        kernels.push_back(std::move(entry));
    }
    nlohmann::json model{{"name", program.name}, {"version", program.version}};
    if (!bundle.model_text.empty()) model["text"] = bundle.model_text;
    return {{"abi", record_abi},         {"compiler", bundle.compiler},
            {"input", bundle.input},     {"fat_binary", bundle.fat_binary_hash},
            {"model", std::move(model)}, {"kernels", std::move(kernels)}};
}

// A string literal, in pieces: compilers need not take long lines.
std::string literal_lines(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); at += 4000) out += c_string(text.substr(at, 4000)) + "\n";
    return out.empty() ? "\"\"\n" : out;
}

std::string bundle_text(const Bundle& bundle, const std::vector<std::string>& ids,
                        const PackedRecord& record) {
    const std::string bytes = record.bytes();
    std::string text =
        c_comment(fmt::format("The driver programs of the kernels of {}, and what `trimtab inspect` "
                              "reads.",
                              bundle.input)) +
        "\n#include <trimtab/driver.h>\n\n";
    const bool registers = bundle.delivery == Delivery::registers_itself;
    // Where the program was linked without the runtime, the host code may have found it (pass/find_runtime.h).
    if (registers)
        text +=
            "#pragma weak trimtab_register_bundle\n#pragma weak trimtab_unregister_bundle\n\n"
            "extern void* dlsym(void* library, const char* name) __attribute__((weak));\n"
            "void* trimtab_found_runtime __attribute__((weak, visibility(\"hidden\")));\n\n";
    text += fmt::format(
        "static const char record[{}] __attribute__((used, retain, section(\"{}\"), aligned(8))) =\n{};\n\n",
        bytes.size(), section_name, literal_lines(bytes));
    for (const std::string& id : ids)
        text += fmt::format(
            "extern const trimtab_driver trimtab_driver_{} __attribute__((visibility(\"hidden\")));\n", id);
    text += "static const trimtab_driver* const drivers[] = {";
    for (const std::string& id : ids) text += fmt::format("\n    &trimtab_driver_{},", id);
    text += ids.empty() ? " 0 };\n" : "\n};\n";
    text += fmt::format(
        "{} = {{TRIMTAB_DRIVER_ABI, {}u, {}, drivers, record + {}, {}u}};\n",
        registers ? "static const trimtab_bundle bundle" : "const trimtab_bundle trimtab_module_bundle",
        ids.size(), c_string(bundle.fat_binary_hash), record_header_bytes, record.json.size());
    if (!registers) return text;
    text +=
        "\nstatic void call(void (*linked)(const trimtab_bundle*), const char* name) {\n"
        "    if (!linked && trimtab_found_runtime)\n"
        "        linked = (void (*)(const trimtab_bundle*))dlsym(trimtab_found_runtime, name);\n"
        "    if (linked) linked(&bundle);\n}\n\n"
        "__attribute__((constructor)) static void register_drivers(void) {\n"
        "    call(trimtab_register_bundle, \"trimtab_register_bundle\");\n}\n\n"
        "__attribute__((destructor)) static void unregister_drivers(void) {\n"
        "    call(trimtab_unregister_bundle, \"trimtab_unregister_bundle\");\n}\n";
    return text;
}

}  // namespace

std::expected<GeneratedSources, Error> generate(const Bundle& bundle, const model::RationalProgram& program) {
    GeneratedSources sources;
    CNames names;
    std::vector<std::string> ids, texts;
    for (const BundleKernel& kernel : bundle.kernels) {
        if (!kernel.profile || !kernel.fits) continue;
        auto text = print_driver(*kernel.description, *kernel.fits, program);
        if (!text) return std::unexpected(text.error());
        texts.push_back(*text);
        // Two images of one fat binary, or two names of one body, share a driver.
        if (std::ranges::find(ids, kernel.description->id) != ids.end()) continue;
        ids.push_back(kernel.description->id);
        sources.drivers.push_back(
            {.name = file_name(*kernel.description, names), .content = std::move(*text)});
    }
    nlohmann::json record = record_json(bundle, texts, program);
    sources.json = record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    sources.bundle = {.name = "trimtab_bundle.c",
                      .content = bundle_text(bundle, ids, pack(std::move(record)))};
    return sources;
}

}  // namespace trimtab::driver_gen
