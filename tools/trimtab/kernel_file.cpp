// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/kernel_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>

#include "core/analysis/describe.h"
#include "core/analysis/launches/built_in_blocks.h"
#include "core/analysis/launches/coarsened.h"
#include "core/base/installation.h"
#include "core/base/nearest_name.h"
#include "core/base/process.h"
#include "core/base/read_text.h"
#include "core/base/reassociation.h"
#include "core/base/temporary_folder.h"
#include "core/ptx/binary.h"
#include "tools/trimtab/opencl_file.h"
#include "trimtab/section.h"

namespace trimtab::tools {

namespace fs = std::filesystem;

namespace {

std::unexpected<Error> bad(std::string message, std::string file) {
    return std::unexpected(Error{.message = std::move(message), .file = std::move(file)});
}

struct Image {
    std::shared_ptr<const ptx::Module> module;
    std::shared_ptr<const std::string> text;
};
using Images = std::vector<Image>;

// Joins the kernel with the image that holds this very one: two static kernels may share a name.
void attach(FileKernel& kernel, const Images& images) {
    const analysis::KernelDescription& description = kernel.record.description;
    for (const Image& image : images) {
        const ptx::Function* function = image.module->function(description.name);
        if (function == nullptr || !function->is_entry ||
            ptx::kernel_hash(*image.module, *function) != description.id)
            continue;
        kernel.module = image.module;
        kernel.ptx = image.text;
        return;
    }
}

void describe_into(KernelFile& file, std::vector<analysis::KernelDescription> kernels, const Images& images) {
    for (auto& description : kernels) {
        FileKernel kernel;
        kernel.record.description = std::move(description);
        attach(kernel, images);
        file.kernels.push_back(std::move(kernel));
    }
}

// As trimtab++ would describe it here and now.
analysis::Permissions permissions() {
    return {.reassociate = base::reassociation(std::getenv(base::reassociate_variable)).value_or(false)};
}

unsigned cores() {
    return std::thread::hardware_concurrency();
}

std::expected<KernelFile, Error> load_ptx_text(const std::string& path,
                                               std::shared_ptr<const std::string> text,
                                               const analysis::KernelSources& sources) {
    auto parsed = ptx::parse(*text, path);
    if (!parsed) return std::unexpected(parsed.error());
    const auto module = std::make_shared<const ptx::Module>(std::move(*parsed));
    const analysis::Image image{
        .module = module.get(), .architecture = module->target, .resources = {}, .resources_from = {}};
    auto kernels = analysis::describe(std::span(&image, 1), sources, permissions(), cores());
    if (!kernels) return std::unexpected(kernels.error());
    KernelFile file{.path = path, .instrumented = false, .kernels = {}};
    describe_into(file, std::move(*kernels), {{.module = module, .text = std::move(text)}});
    return file;
}

std::expected<KernelFile, Error> load_ptx(const std::string& path) {
    auto text = base::read_text(path);
    if (!text) return bad("cannot read the file", path);
    return load_ptx_text(path, std::make_shared<const std::string>(std::move(*text)), {});
}

std::expected<KernelFile, Error> load_opencl(const std::string& path,
                                             const std::vector<std::string>& options) {
    auto program = compile_opencl_file(path, options);
    if (!program) return std::unexpected(program.error());
    return load_ptx_text(path, std::make_shared<const std::string>(std::move(program->ptx)),
                         kernel_sources(*program));
}

// As analysis::describe_fat_binary() has described it.
Images images_of(const ptx::FatBinary& binary, analysis::DescribedFatBinary& described) {
    Images own;
    for (const ptx::FatBinaryImage& image : binary.images) {
        if (image.kind != ptx::FatBinaryImage::Kind::ptx || own.size() == described.modules.size()) continue;
        own.push_back(
            {.module = std::make_shared<const ptx::Module>(std::move(described.modules[own.size()])),
             .text = std::make_shared<const std::string>(reinterpret_cast<const char*>(image.bytes.data()),
                                                         image.bytes.size())});
    }
    return own;
}

std::expected<KernelFile, Error> load_binary(const std::string& path) {
    KernelFile file{.path = path, .instrumented = false, .kernels = {}};
    const auto section = ptx::read_elf_section(path, section_name);
    if (!section) return std::unexpected(section.error());
    const auto binaries = ptx::read_fat_binaries(path);
    if (!binaries) return std::unexpected(binaries.error());
    std::vector<Record> records;
    if (*section) {
        auto read = read_records(**section, path);
        if (!read) return std::unexpected(read.error());
        records = std::move(*read);
        file.instrumented = true;
    }
    Images images;
    for (const ptx::FatBinary& binary : *binaries) {
        auto described = analysis::describe_fat_binary(binary, {}, path, permissions(), cores());
        if (!described) {
            // The records still say all that was known when the binary was made.
            if (file.instrumented) continue;
            return std::unexpected(described.error());
        }
        const Images own = images_of(binary, *described);
        images.insert(images.end(), own.begin(), own.end());
        const bool recorded = std::ranges::any_of(
            records, [&](const Record& record) { return record.fat_binary == binary.hash; });
        if (!recorded) describe_into(file, std::move(described->kernels), own);
    }
    for (Record& record : records)
        for (KernelRecord& recorded : record.kernels) {
            FileKernel kernel{.record = std::move(recorded),
                              .input = record.input,
                              .compiler = record.compiler,
                              .module = {},
                              .ptx = {}};
            attach(kernel, images);
            file.kernels.push_back(std::move(kernel));
        }
    return file;
}

std::expected<KernelFile, Error> load_source(const std::string& path, const std::vector<std::string>& flags) {
    const auto compiler = base::find_own_program("trimtab++");
    if (!compiler)
        return bad("trimtab++ is missing next to trimtab; a CUDA source needs it: install all of Trimtab",
                   path);
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return std::unexpected(folder.error());
    const std::string object = folder->file("kernels.o");
    std::vector<std::string> command{*compiler, "--trimtab-quiet", "-O3"};
    std::ranges::move(register_flags(), std::back_inserter(command));
    command.insert(command.end(), flags.begin(), flags.end());
    command.insert(command.end(), {"-c", path, "-o", object});
    const auto outcome = base::run({.words = command});
    if (!outcome || !outcome->is_success()) return bad("trimtab++ cannot compile it", path);
    auto file = load_binary(object);
    if (file) file->path = path;
    return file;
}

}  // namespace

std::expected<KernelFile, Error> load_images(std::span<const std::span<const std::byte>> images,
                                             const std::string& path) {
    KernelFile file{.path = path, .instrumented = false, .kernels = {}};
    for (const std::span<const std::byte> image : images) {
        const std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
        if (!ptx::is_fat_binary(image))
            return load_ptx_text(path, std::make_shared<const std::string>(text.substr(0, text.find('\0'))),
                                 {});
        auto binary = ptx::read_fat_binary(image, path);
        if (!binary) return std::unexpected(binary.error());
        auto described = analysis::describe_fat_binary(*binary, {}, path, permissions(), cores());
        if (!described) return std::unexpected(described.error());
        const Images own = images_of(*binary, *described);
        describe_into(file, std::move(described->kernels), own);
    }
    return file;
}

std::vector<std::string> register_flags() {
    return {"-Wno-pass-failed",
            "-mllvm",
            "-pragma-unroll-threshold=1000000",
            "-mllvm",
            "-instcombine-code-sinking=0",
            "-mllvm",
            "-disable-machine-sink"};
}

std::expected<KernelFile, Error> load_kernels(const std::string& path,
                                              const std::vector<std::string>& compiler_flags) {
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return bad("no such file", path);
    if (fs::is_directory(path, ignored)) return bad("is a folder", path);
    const std::string extension = fs::path(path).extension().string();
    if (extension == ".cu") return load_source(path, compiler_flags);
    if (extension == ".cl") return load_opencl(path, compiler_flags);
    if (extension == ".ptx") return load_ptx(path);
    if (ptx::is_elf(path)) return load_binary(path);
    return bad(
        "is neither a CUDA source (.cu), OpenCL C (.cl), PTX (.ptx), nor an ELF object, library or program",
        path);
}

std::string base_name(const std::string& demangled) {
    // The parameter list begins at the last parenthesis on the outermost level; "(anonymous namespace)" and
    // template arguments hold others.
    std::string_view text = demangled;
    int depth = 0;
    std::size_t end = text.size();
    for (std::size_t i = text.size(); i-- > 0;) {
        if (text[i] == ')' || text[i] == '>') ++depth;
        if (text[i] == '(' || text[i] == '<') --depth;
        if (depth != 0 || (text[i] != '(' && text[i] != '<')) continue;
        const bool anonymous = text.substr(i).starts_with("(anonymous");
        if (anonymous) break;
        end = i;
    }
    text = text.substr(0, end);
    // What precedes the name: a return type, namespaces.
    const std::size_t start = text.find_last_of(" :");
    return std::string(start == std::string_view::npos ? text : text.substr(start + 1));
}

namespace {

// What the user may have meant: a near name, else what there is.
std::string known_kernels(const std::string& name, const std::vector<std::string>& names) {
    constexpr std::size_t most = 8;
    if (std::string near = base::suggestion(name, names); !near.empty()) return near;
    std::string list = fmt::format(
        "; it has {}",
        fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size())),
                  ", "));
    if (names.size() > most) list += fmt::format(" and {} more", names.size() - most);
    return list;
}

}  // namespace

std::expected<std::size_t, Error> find_kernel(const KernelFile& file, const std::string& name) {
    if (file.kernels.empty()) return bad("holds no CUDA kernels", file.path);
    std::vector<std::size_t> exact, based;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < file.kernels.size(); ++i) {
        const analysis::KernelDescription& kernel = file.kernels[i].record.description;
        const std::string base = base_name(kernel.demangled);
        if (kernel.name == name || kernel.demangled == name || kernel.id == name) exact.push_back(i);
        // Whoever asks for the kernel does not mean the body beside it.
        if (analysis::built_in_block(kernel) || analysis::coarsening(kernel)) continue;
        if (base == name) based.push_back(i);
        names.push_back(base);
    }
    const std::vector<std::size_t>& found = exact.empty() ? based : exact;
    if (found.empty())
        return bad(fmt::format("has no kernel {}{}", name, known_kernels(name, names)), file.path);
    // Copies of one kernel (an inline template in two objects) are one kernel.
    std::vector<std::string> choices;
    for (const std::size_t i : found) {
        const analysis::KernelDescription& kernel = file.kernels[i].record.description;
        const std::string choice = fmt::format("{} ({})", kernel.id, kernel.demangled);
        if (std::ranges::find(choices, choice) == choices.end()) choices.push_back(choice);
    }
    if (choices.size() > 1)
        return bad(
            fmt::format("has several kernels {}: name one by its id, {}", name, fmt::join(choices, " or ")),
            file.path);
    return found.front();
}

}  // namespace trimtab::tools
