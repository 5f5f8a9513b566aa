// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that make machine code while they run call ptxas: by nvcc --cubin, as PyCUDA does, or by its name, as Triton does. The
// emulator runs PTX. So where it stands in for the GPU, and this library is in a process of ptxas, the cubin that ptxas leaves
// behind gets the PTX that it was made of, in a section that nobody else reads.
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/carried_ptx.h"
#include "runtime/stand_in/libraries.h"

namespace trimtab::runtime {
namespace {

namespace fs = std::filesystem;

std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> own_words() {
    std::vector<std::string> words;
    const std::string line = contents("/proc/self/cmdline");
    for (std::size_t at = 0; at < line.size();) {
        words.emplace_back(line.c_str() + at);
        at += words.back().size() + 1;
    }
    return words;
}

// What ptxas was told to read and to write.
struct Assembly {
    std::string source, output;
};

// Code that is still to be linked is left alone, and so are several sources.
std::optional<Assembly> assembly_of(const std::vector<std::string>& words) {
    Assembly out;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (word == "-c" || word == "--compile-only") return std::nullopt;
        if ((word == "-o" || word == "--output-file") && i + 1 < words.size()) {
            out.output = words[++i];
        } else if (const std::size_t is = word.find('=');
                   is != std::string_view::npos &&
                   (word.substr(0, is) == "-o" || word.substr(0, is) == "--output-file")) {
            out.output = word.substr(is + 1);
        } else if (word.ends_with(".ptx") && !word.starts_with('-')) {
            if (!out.source.empty()) return std::nullopt;
            out.source = word;
        }
    }
    if (out.source.empty() || out.output.empty()) return std::nullopt;
    return out;
}

void carry(const Assembly& assembly) {
    const std::string cubin = contents(assembly.output);
    const std::string source = contents(assembly.source);
    if (source.empty() || source.contains('\0')) return;
    const auto carrying = ptx::with_carried_ptx(std::as_bytes(std::span(cubin)), source);
    if (!carrying) return;  // it has failed, or was asked for something else
    std::ofstream file(assembly.output, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(carrying->data()),
               static_cast<std::streamsize>(carrying->size()));
}

bool is_assembler() {
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error).filename().string().starts_with("ptxas");
}

// After ptxas has written what it was asked for.
[[gnu::destructor]] void at_end() {
    try {
        if (!is_assembler() || !expects_emulator()) return;
        if (const auto assembly = assembly_of(own_words())) carry(*assembly);
    } catch (const std::exception&) {
        return;  // The cubin is as ptxas has left it.
    }
}

}  // namespace
}  // namespace trimtab::runtime
