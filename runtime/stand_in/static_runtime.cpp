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
#include "runtime/stand_in/stripped_copy.h"

namespace trimtab::runtime {
namespace {

bool is_preloaded() {
    const char* list = secure_getenv("LD_PRELOAD");
    return list != nullptr && std::string_view(list).contains("libtrimtab.so");
}

void* own_library() {
    Dl_info place{};
    if (dladdr(reinterpret_cast<void*>(&own_library), &place) == 0) return nullptr;
    return dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

// A program or library, its file and where the loader has put it.
struct LoadedFile {
    ptx::ElfFile file;
    std::vector<ptx::ElfSymbol> symbols;
    std::uint64_t bias = 0;  // what is added to the addresses in the file

    [[nodiscard]] bool holds_copy() const { return has_function(symbols, "cudaLaunchKernel"); }
};

std::optional<LoadedFile> read(const link_map& object) {
    const bool is_program = object.l_name == nullptr || *object.l_name == '\0';
    const std::string path = is_program ? "/proc/self/exe" : object.l_name;
    auto file = ptx::ElfFile::open(path);
    if (!file) return std::nullopt;
    auto symbols = file->symbols();
    if (!symbols) return std::nullopt;
    if (symbols->empty()) *symbols = find_runtime_functions(object, path);
    return LoadedFile{.file = std::move(*file), .symbols = std::move(*symbols), .bias = object.l_addr};
}

const link_map* object_of(const void* place) {
    Dl_info info{};
    link_map* object = nullptr;
    if (dladdr1(place, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0) return nullptr;
    return object;
}

const link_map* program_object() {
    link_map* first = nullptr;
    void* program = dlopen(nullptr, RTLD_LAZY);
    if (program == nullptr || dlinfo(program, RTLD_DI_LINKMAP, static_cast<void*>(&first)) != 0)
        return nullptr;
    return first;
}

// `name`: of what holds the copy. False: it stays as it is.
bool take_over_copy(const LoadedFile& object, const std::string& name) {
    Process& process = Process::instance();
    // On a GPU its own runtime will do where there is none to put in its place.
    if (process.settings().device.empty() && kernel_driver_is_there() && open_real_runtime() == nullptr)
        return false;
    if (!is_replaceable(object.symbols)) {
        process.log().warn(name +
                           " holds the runtime of CUDA 12 or older, which cannot be replaced: it needs a "
                           "GPU, or to be linked "
                           "again with CUDA 13");
        return false;
    }
    void* library = own_library();
    if (library == nullptr) return false;
    for (const CopiedFunction& function : copied_functions(object.symbols)) {
        const void* target = dlsym(library, function.name.c_str());
        if (target == nullptr ||
            write_jump(reinterpret_cast<std::byte*>(object.bias + function.address), target))
            continue;
        process.log().warn(
            name +
            "'s own copy of CUDA's runtime cannot be replaced (its code is not writable): link it with nvcc "
            "-cudart shared");
        return false;
    }
    return true;
}

// What the program itself holds.
void take_over() {
    const link_map* program = program_object();
    const auto object = program == nullptr ? std::nullopt : read(*program);
    if (!object) return;
    // On the emulator it is told of when it calls the driver (stand_in/export_tables.cpp).
    if (object->symbols.empty() && !expects_emulator() && hides_runtime(object->file)) {
        Process::instance().log().warn(
            "the program holds a copy of CUDA's runtime and no symbols to find it by: it runs as it is, on a "
            "GPU alone (do not strip it, or link it with nvcc -cudart shared)");
        return;
    }
    if (object->holds_copy()) static_cast<void>(take_over_copy(*object, "the program"));
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

// Of a program or library that was linked without this one and has opened it (pass/find_runtime.h): may its launches come here?
// They may not where it holds a runtime that has its kernels and cannot be replaced.
extern "C" int trimtab_join(const void* place) {
    using namespace trimtab::runtime;
    const link_map* found = object_of(place);
    const auto object = found == nullptr ? std::nullopt : read(*found);
    if (!object) return 0;
    if (!object->holds_copy()) return object->symbols.empty() && hides_runtime(object->file) ? 0 : 1;
    const std::string name =
        found->l_name == nullptr || *found->l_name == '\0' ? "the program" : found->l_name;
    return take_over_copy(*object, name) ? 1 : 0;
}
