// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that nvcc links hold a copy of CUDA's runtime of their own. Where libtrimtab.so is preloaded into
// such a program, each function of that copy is made to jump to ours of the same name, before the program's
// constructors call the first of them. Libraries' copies: stand_in/library_runtimes.cpp.
#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/process.h"
#include "runtime/stand_in/jump.h"
#include "runtime/stand_in/libraries.h"
#include "runtime/stand_in/loaded_library.h"
#include "runtime/stand_in/runtime_copy.h"
#include "runtime/stand_in/shared_runtime.h"

namespace trimtab::runtime {
namespace {

bool is_preloaded() {
    const char* list = secure_getenv("LD_PRELOAD");
    return list != nullptr && std::string_view(list).contains("libtrimtab.so");
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

void take_over() {
    const auto program = ptx::ElfFile::open("/proc/self/exe");
    if (!program) return;
    const auto symbols = program->symbols();
    if (!symbols) return;
    Process& process = Process::instance();
    // On the emulator it is told of when it calls the driver (stand_in/export_tables.cpp).
    if (symbols->empty() && !expects_emulator() && hides_runtime(*program)) {
        process.log().warn(
            "the program holds a copy of CUDA's runtime and no symbols to find it by: it runs as it is, on a "
            "GPU "
            "alone (do not strip it, or link it with nvcc -cudart shared)");
        return;
    }
    if (!has_function(*symbols, "cudaLaunchKernel")) return;
    // On a GPU its own runtime will do where there is none to put in its place.
    if (process.settings().device.empty() && kernel_driver_is_there() && open_real_runtime() == nullptr)
        return;
    if (!is_replaceable(*symbols)) {
        process.log().warn(
            "the program holds the runtime of CUDA 12 or older, which cannot be replaced: it needs a GPU, or "
            "to "
            "be linked again with CUDA 13");
        return;
    }
    void* library = own_library();
    if (library == nullptr) return;
    const std::uint64_t bias = load_bias();
    for (const CopiedFunction& function : copied_functions(*symbols)) {
        const void* target = dlsym(library, function.name.c_str());
        if (target == nullptr || write_jump(reinterpret_cast<std::byte*>(bias + function.address), target))
            continue;
        process.log().warn(
            "the program's own copy of CUDA's runtime cannot be replaced (its code is not writable): link it "
            "with nvcc -cudart shared");
        return;
    }
}

// Another major version's runtime, as a library: its calls are not those that libtrimtab.so stands in for.
void say_if_older() {
    std::string older;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* out) {
            if (object->dlpi_name == nullptr || !is_older_runtime(object->dlpi_name)) return 0;
            *static_cast<std::string*>(out) = object->dlpi_name;
            return 1;
        },
        &older);
    if (!older.empty()) Process::instance().log().warn(older + ": " + older_runtime_text);
}

// CUDA's own libcudart.so.13, which the program may be linked to beside Trimtab's: the program's calls find it first. Only
// those before this library's constructor still reach it.
void take_over_libraries() {
    struct Found {
        std::vector<std::pair<std::string, LoadedLibrary>> real;
        std::optional<LoadedLibrary> own;
    } found;
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* out) {
            auto& all = *static_cast<Found*>(out);
            const LoadedLibrary library(*object);
            if (library.find("trimtab_register_bundle") != nullptr) {
                all.own = library;
            } else if (is_real_runtime(library)) {
                all.real.emplace_back(object->dlpi_name, library);
            }
            return 0;
        },
        &found);
    if (found.real.empty() || !found.own || !expects_emulator()) return;
    Process& process = Process::instance();
    if (process.settings().device.empty() && ask_driver().finds_gpu) return;
    static_cast<void>(own_library());  // kept open: the jumps lead here until the process ends
    for (const auto& [path, library] : found.real)
        if (!redirect(library, *found.own)) process.log().warn(path + ": " + not_redirected_text);
}

// Then it speaks of libraries, those too that come later.
bool is_audited() {
    const char* list = secure_getenv("LD_AUDIT");
    return list != nullptr && std::string_view(list).contains("libtrimtab_audit.so");
}

[[gnu::constructor]] void at_load() {
    take_over_libraries();
    offer_libraries();
    if (!is_preloaded()) return;
    take_over();
    if (!is_audited()) say_if_older();
}

}  // namespace
}  // namespace trimtab::runtime
