// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVIDIA documents no layout for cubins; attributes and flags were read off what ptxas (CUDA 13) writes, and
// compared with what ptxas -v says.
#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "core/ptx/binary.h"
#include "core/ptx/byte_reader.h"
#include "core/ptx/elf.h"

namespace trimtab::ptx {
namespace {

constexpr std::uint8_t other_is_kernel = 0x10;
constexpr std::uint8_t os_abi_cuda_13 = 0x41;
// Attributes of .nv.info whose format is "sized".
constexpr std::uint8_t format_sized = 4;
constexpr std::uint8_t attribute_max_threads = 0x05, attribute_required_block = 0x10,
                       attribute_frame_bytes = 0x11, attribute_stack_bytes = 0x12, attribute_registers = 0x2f;
// From sm_90 on a linked cubin's shared sections begin with 1 KiB that the system reserves for each block.
constexpr unsigned reserving_architecture = 90;
constexpr std::uint64_t reserved_shared_bytes = 1024;

struct Attribute {
    std::uint8_t code = 0;
    std::vector<std::uint32_t> words;
};

std::vector<Attribute> attributes(std::span<const std::byte> section) {
    std::vector<Attribute> out;
    for (std::size_t at = 0; at + 4 <= section.size();) {
        const auto format = read_number_at<std::uint8_t>(section, at);
        Attribute attribute;
        attribute.code = read_number_at<std::uint8_t>(section, at + 1);
        const std::size_t size = read_number_at<std::uint16_t>(section, at + 2);
        at += 4;
        if (format != format_sized) continue;
        if (size > section.size() - at) break;
        for (std::size_t i = 0; i + 4 <= size; i += 4) {
            attribute.words.push_back(read_number_at<std::uint32_t>(section, at + i));
        }
        at += size;
        out.push_back(std::move(attribute));
    }
    return out;
}

unsigned architecture(const ElfFile& elf) {
    return elf.os_abi == os_abi_cuda_13 ? (elf.flags >> 8) & 0xff : elf.flags & 0xff;
}

class CubinReader {
  public:
    CubinReader(const ElfFile& elf, std::vector<ElfSymbol> symbols)
        : elf_(elf), symbols_(std::move(symbols)) {}

    std::expected<std::map<std::string, KernelResources>, Error> run() {
        for (const ElfSymbol& symbol : symbols_) {
            if (symbol.type != STT_FUNC || (symbol.other & other_is_kernel) == 0) continue;
            KernelResources& kernel = kernels_[symbol.name];
            kernel.code_bytes = static_cast<std::uint32_t>(symbol.size_bytes);
        }
        for (const ElfSection& section : elf_.sections()) {
            if (KernelResources* kernel = kernel_of(section, ".text.")) {
                if (kernel->code_bytes == 0)
                    kernel->code_bytes = static_cast<std::uint32_t>(section.size_bytes);
                // Older cubins keep the count here, and here alone.
                if (kernel->registers_per_thread == 0 && elf_.os_abi != os_abi_cuda_13) {
                    kernel->registers_per_thread = section.info >> 24;
                }
            } else if (KernelResources* owner = kernel_of(section, ".nv.shared.")) {
                owner->static_shared_bytes = static_cast<std::uint32_t>(shared_bytes(section));
            } else if (section.name == ".nv.info") {
                if (auto read = read_module_attributes(section); !read) return std::unexpected(read.error());
            } else if (KernelResources* described = kernel_of(section, ".nv.info.")) {
                if (auto read = read_kernel_attributes(section, *described); !read) {
                    return std::unexpected(read.error());
                }
            }
        }
        return std::move(kernels_);
    }

  private:
    KernelResources* kernel_of(const ElfSection& section, std::string_view prefix) {
        if (!section.name.starts_with(prefix)) return nullptr;
        const auto found = kernels_.find(section.name.substr(prefix.size()));
        return found == kernels_.end() ? nullptr : &found->second;
    }

    std::uint64_t shared_bytes(const ElfSection& section) const {
        // A relocatable cubin is ET_REL.
        const bool reserves = elf_.type == ET_EXEC && architecture(elf_) >= reserving_architecture;
        return section.size_bytes - (reserves ? std::min(section.size_bytes, reserved_shared_bytes) : 0);
    }

    // {symbol, value} for each function.
    std::expected<void, Error> read_module_attributes(const ElfSection& section) {
        const auto bytes = elf_.contents(section);
        if (!bytes) return std::unexpected(bytes.error());
        for (const Attribute& attribute : attributes(*bytes)) {
            if (attribute.words.size() < 2 || attribute.words[0] >= symbols_.size()) continue;
            const auto found = kernels_.find(symbols_[attribute.words[0]].name);
            if (found == kernels_.end()) continue;
            KernelResources& kernel = found->second;
            const std::uint32_t value = attribute.words[1];
            if (attribute.code == attribute_registers) kernel.registers_per_thread = value;
            // The frame is the kernel's own; the stack counts its callees too, unless recursion forbids.
            if (attribute.code == attribute_frame_bytes ||
                (attribute.code == attribute_stack_bytes && value != 0xffffffffu)) {
                kernel.local_bytes_per_thread = std::max(kernel.local_bytes_per_thread, value);
            }
        }
        return {};
    }

    std::expected<void, Error> read_kernel_attributes(const ElfSection& section, KernelResources& kernel) {
        const auto bytes = elf_.contents(section);
        if (!bytes) return std::unexpected(bytes.error());
        for (const Attribute& attribute : attributes(*bytes)) {
            if (attribute.code != attribute_max_threads && attribute.code != attribute_required_block)
                continue;
            std::uint64_t threads = 1;
            for (const std::uint32_t size : attribute.words)
                threads = std::min<std::uint64_t>(threads * size, 1u << 20);
            if (!attribute.words.empty()) kernel.max_threads_per_block = static_cast<std::uint32_t>(threads);
        }
        return {};
    }

    const ElfFile& elf_;
    std::vector<ElfSymbol> symbols_;
    std::map<std::string, KernelResources> kernels_;
};

}  // namespace

std::expected<std::map<std::string, KernelResources>, Error> read_cubin(std::span<const std::byte> cubin,
                                                                        const std::string& origin) {
    const auto elf = ElfFile::from_memory(cubin, origin);
    if (!elf) return std::unexpected(elf.error());
    if (elf->machine != EM_CUDA) return std::unexpected(Error{"this ELF file is no cubin", origin});
    auto symbols = elf->symbols();
    if (!symbols) return std::unexpected(std::move(symbols.error()));
    return CubinReader(*elf, std::move(*symbols)).run();
}

}  // namespace trimtab::ptx
