// Programs that nvcc links hold a copy of CUDA's runtime of their own (its default, -cudart static). Where
// libtrimtab.so is preloaded into such a program, each function of that copy is made to jump to ours of the
// same name, before the program's constructors call the first of them. The copy's functions are found in the
// program's symbol table.
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "ptx/elf.h"
#include "runtime/libraries.h"
#include "runtime/process.h"

namespace trimtab::runtime {
namespace {

constexpr std::uint8_t function_type = STT_FUNC;

// jmp *0(%rip), and the address that it reads.
struct [[gnu::packed]] Jump {
    std::uint8_t opcode[6] = {0xff, 0x25, 0, 0, 0, 0};
    const void* target = nullptr;
};

struct Replacement {
    std::byte* place = nullptr;
    const void* target = nullptr;
};

bool is_preloaded() {
    const char* list = std::getenv("LD_PRELOAD");
    return list != nullptr && std::string_view(list).find("libtrimtab.so") != std::string_view::npos;
}

// What is added to the addresses in the program's file.
std::uint64_t load_bias() {
    std::uint64_t bias = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* program, std::size_t, void* out) {
            *static_cast<std::uint64_t*>(out) = program->dlpi_addr;
            return 1;  // the first is the program itself
        },
        &bias);
    return bias;
}

void* own_library() {
    Dl_info place{};
    if (dladdr(reinterpret_cast<void*>(&own_library), &place) == 0) return nullptr;
    return dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

bool is_of_runtime(std::string_view name) {
    return name.starts_with("cuda") || name.starts_with("__cuda");
}

bool write(const Replacement& replacement) {
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto start = reinterpret_cast<std::uintptr_t>(replacement.place);
    const std::uintptr_t first = start / page * page;
    const std::uintptr_t last = (start + sizeof(Jump) + page - 1) / page * page;
    auto* pages = reinterpret_cast<void*>(first);
    if (mprotect(pages, last - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
    Jump jump;
    jump.target = replacement.target;
    std::memcpy(replacement.place, &jump, sizeof jump);
    return mprotect(pages, last - first, PROT_READ | PROT_EXEC) == 0;
}

// The functions of the program's own runtime that this library has too; nothing where it has no such runtime.
std::vector<Replacement> replacements(const std::vector<ptx::ElfSymbol>& symbols, void* library) {
    std::vector<std::uint64_t> starts;
    for (const ptx::ElfSymbol& symbol : symbols) {
        if (symbol.type == function_type && symbol.section != SHN_UNDEF) starts.push_back(symbol.value);
    }
    std::sort(starts.begin(), starts.end());
    const std::uint64_t bias = load_bias();
    std::vector<Replacement> out;
    for (const ptx::ElfSymbol& symbol : symbols) {
        if (symbol.type != function_type || symbol.section == SHN_UNDEF || !is_of_runtime(symbol.name))
            continue;
        const void* target = dlsym(library, symbol.name.c_str());
        const auto next = std::upper_bound(starts.begin(), starts.end(), symbol.value);
        const bool has_room = next == starts.end() || *next - symbol.value >= sizeof(Jump);
        if (target == nullptr || !has_room) continue;
        out.push_back({.place = reinterpret_cast<std::byte*>(bias + symbol.value), .target = target});
    }
    return out;
}

bool has(const std::vector<ptx::ElfSymbol>& symbols, std::string_view name) {
    return std::any_of(symbols.begin(), symbols.end(), [name](const ptx::ElfSymbol& symbol) {
        return symbol.name == name && symbol.section != SHN_UNDEF;
    });
}

// Does a program without a symbol table hold device code, and a runtime of its own to launch it?
bool hides_runtime(const ptx::ElfFile& program) {
    bool has_device_code = false;
    for (const ptx::ElfSection& section : program.sections()) {
        has_device_code = has_device_code || section.name == ".nv_fatbin";
        if (section.name != ".dynstr") continue;
        const auto names = program.contents(section);
        if (!names) return false;
        const std::string_view text(reinterpret_cast<const char*>(names->data()), names->size());
        if (text.find("libcudart") != std::string_view::npos) return false;
    }
    return has_device_code;
}

void take_over() {
    const auto program = ptx::ElfFile::open("/proc/self/exe");
    if (!program) return;
    const auto symbols = program->symbols();
    if (!symbols) return;
    Process& process = Process::instance();
    if (symbols->empty() && hides_runtime(*program)) {
        process.log().warn(
            "the program holds a copy of CUDA's runtime and no symbols to find it by: it runs as it is, on a "
            "GPU "
            "alone (do not strip it, or link it with nvcc -cudart shared)");
        return;
    }
    if (!has(*symbols, "cudaLaunchKernel")) return;
    // On a GPU its own runtime will do where there is none to put in its place.
    if (process.settings().device.empty() && kernel_driver_is_there() && open_real_runtime() == nullptr)
        return;
    // That call went with CUDA 13, and the structure of the other is not what it was.
    if (has(*symbols, "cudaGetDeviceProperties_v2")) {
        process.log().warn(
            "the program holds the runtime of CUDA 12 or older, which cannot be replaced: it needs a GPU, or "
            "to "
            "be linked again with CUDA 13");
        return;
    }
    void* library = own_library();
    if (library == nullptr) return;
    for (const Replacement& replacement : replacements(*symbols, library)) {
        if (write(replacement)) continue;
        process.log().warn(
            "the program's own copy of CUDA's runtime cannot be replaced (its code is not writable): link it "
            "with nvcc -cudart shared");
        return;
    }
}

[[gnu::constructor]] void at_load() {
    if (is_preloaded()) take_over();
}

}  // namespace
}  // namespace trimtab::runtime
