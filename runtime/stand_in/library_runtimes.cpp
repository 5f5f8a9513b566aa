// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries that nvcc links hold a copy of CUDA's runtime, too. Their constructors use it, so it must be
// replaced after the library is mapped and before it is initialised, also where the program opens it with
// dlopen(), as is CUDA's own libcudart.so.13: then the loader tells its auditors (LD_AUDIT, rtld-audit(7)). `trimtab run` puts this library
// there where the emulator stands in for the GPU. It lives in a namespace of its own, with its own C library:
// the addresses to jump to are looked up in the mapped libtrimtab.so itself.
//
// NVRTC, which programs ask for machine code, gives its PTX in the place of that: the emulator runs nothing else. What they
// ask nvJitLink for, runtime/modules/jit_link_entry_points.cpp answers.
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ptx/elf.h"
#include "runtime/stand_in/jump.h"
#include "runtime/stand_in/loaded_library.h"
#include "runtime/stand_in/runtime_copy.h"
#include "runtime/stand_in/shared_runtime.h"
#include "runtime/stand_in/stripped_copy.h"

namespace trimtab::runtime {
namespace {

// The objects of the program's namespace that nobody has looked at yet. The loader holds its lock.
std::vector<link_map*>& new_objects() {
    static std::vector<link_map*> objects;
    return objects;
}

// libtrimtab.so, once it is there.
link_map*& stand_in() {
    static link_map* library = nullptr;
    return library;
}

std::string_view file_name(const link_map& object) {
    const std::string_view path = object.l_name == nullptr ? "" : object.l_name;
    return path.substr(path.rfind('/') + 1);
}

bool is_stand_in(const link_map& object) {
    // With or without its version; under this name too, where it stands in for the driver.
    return file_name(object).starts_with("libtrimtab.so");
}

void warn(const link_map& object, const char* what) {
    const char* level = secure_getenv("TRIMTAB_LOG");
    if (level != nullptr && std::string_view(level) == "off") return;
    std::fprintf(stderr, "trimtab: %s: %s\n", object.l_name, what);
}

void* find_function(const link_map& object, std::string_view name) {
    return LoadedLibrary(object).find(name);
}

// Each pair has the same parameters, and means the same of another form of the program.
void give_ptx(const link_map& object) {
    constexpr std::pair<std::string_view, std::string_view> pairs[] = {
        {"nvrtcGetCUBINSize", "nvrtcGetPTXSize"}, {"nvrtcGetCUBIN", "nvrtcGetPTX"}};
    for (const auto& [machine_code, ptx] : pairs) {
        void* place = find_function(object, machine_code);
        const void* target = find_function(object, ptx);
        if (place == nullptr || target == nullptr) return;
        static_cast<void>(write_jump(static_cast<std::byte*>(place), target));
    }
}

// The program may know the functions by the names of a version, too: nvJitLink.h makes such names of them.
void take_over_linker(const link_map& object) {
    constexpr std::string_view names[] = {
        "nvJitLinkVersion",        "nvJitLinkCreate",          "nvJitLinkDestroy",
        "nvJitLinkAddData",        "nvJitLinkComplete",        "nvJitLinkGetLinkedCubinSize",
        "nvJitLinkGetLinkedCubin", "nvJitLinkGetErrorLogSize", "nvJitLinkGetErrorLog",
        "nvJitLinkGetInfoLogSize", "nvJitLinkGetInfoLog"};
    for (const std::string_view name : names) {
        const void* target = find_function(*stand_in(), "trimtab_" + std::string(name));
        if (target == nullptr) return;
        std::vector<std::string> own{std::string(name)};
        for (int version = 120; version < 140; ++version)
            own.push_back("__" + std::string(name) + "_" + std::to_string(version / 10) + "_" +
                          std::to_string(version % 10));
        for (const std::string& one : own)
            if (void* place = find_function(object, one))
                static_cast<void>(write_jump(static_cast<std::byte*>(place), target));
    }
}

void take_over(const link_map& object) {
    if (file_name(object).starts_with("libnvrtc.so")) return give_ptx(object);
    if (file_name(object).starts_with("libnvJitLink.so")) return take_over_linker(object);
    if (file_name(object).empty() || file_name(object).starts_with("libtrimtab")) return;
    if (is_older_runtime(file_name(object))) return warn(object, older_runtime_text);
    if (is_real_runtime(LoadedLibrary(object))) {
        if (!redirect(LoadedLibrary(object), LoadedLibrary(*stand_in()))) warn(object, not_redirected_text);
        return;
    }
    const auto file = ptx::ElfFile::open(object.l_name);
    if (!file) return;
    // Python's modules hold copies without device code beside them, as local symbols.
    auto symbols = file->symbols();
    if (!symbols) return;
    if (!has_function(*symbols, "cudaLaunchKernel")) *symbols = find_runtime_functions(object, object.l_name);
    // One that is not found so is told of when it calls the driver: stand_in/export_tables.cpp.
    if (!has_function(*symbols, "cudaLaunchKernel")) return;
    if (!is_replaceable(*symbols)) {
        warn(object,
             "holds the runtime of CUDA 12 or older, which cannot be replaced: it needs a GPU, or to be "
             "linked "
             "again with CUDA 13");
        return;
    }
    for (const CopiedFunction& function : copied_functions(*symbols)) {
        const void* target = find_function(*stand_in(), function.name);
        if (target == nullptr ||
            write_jump(reinterpret_cast<std::byte*>(object.l_addr + function.address), target))
            continue;
        warn(object,
             "its copy of CUDA's runtime cannot be replaced (its code is not writable): link it with nvcc "
             "-cudart shared");
        return;
    }
}

void look_at_new_objects() {
    if (stand_in() == nullptr) return;  // a program that has nothing to do with CUDA
    std::vector<link_map*> objects;
    objects.swap(new_objects());
    for (const link_map* object : objects) take_over(*object);
}

}  // namespace
}  // namespace trimtab::runtime

extern "C" {

unsigned la_version(unsigned version) {
    return std::min<unsigned>(version, LAV_CURRENT);
}

// 0: no symbol that is bound is of interest.
unsigned la_objopen(link_map* object, Lmid_t name_space, uintptr_t*) {
    using namespace trimtab::runtime;
    if (name_space != LM_ID_BASE) return 0;
    try {
        if (is_stand_in(*object)) stand_in() = object;
        new_objects().push_back(object);
    } catch (const std::exception&) {
        return 0;  // Out of memory: that library keeps its runtime.
    }
    return 0;
}

void la_activity(uintptr_t*, unsigned flag) {
    using namespace trimtab::runtime;
    if (flag != LA_ACT_CONSISTENT) return;
    try {
        look_at_new_objects();
    } catch (const std::exception&) {
        return;
    }
}

unsigned la_objclose(uintptr_t* cookie) {
    using namespace trimtab::runtime;
    // The cookie is the link_map's address unless la_objopen() changed it.
    auto* object = reinterpret_cast<link_map*>(*cookie);
    std::erase(new_objects(), object);
    if (stand_in() == object) stand_in() = nullptr;
    return 0;
}
}
