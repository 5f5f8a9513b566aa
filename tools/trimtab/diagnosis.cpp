// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/diagnosis.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

#include "choosing/settings.h"
#include "core/base/cache_path.h"
#include "core/base/compilers.h"
#include "core/base/installation.h"
#include "core/base/kept_file.h"
#include "core/base/process.h"
#include "core/base/read_text.h"
#include "core/base/temporary_folder.h"
#include "core/model/device.h"
#include "core/sass/assemble.h"
#include "core/sass/assemble_older.h"
#include "pipeline/remote/redis_store.h"
#include "runtime/stand_in/libraries.h"
#include "tools/trimtab++/toolchain.h"

namespace trimtab::tools {

namespace {

namespace fs = std::filesystem;
constexpr std::string_view install_again = "install Trimtab whole: bin/, lib/ and include/ belong together";

// The line of what `program --version` prints that names its version (ptxas's is not the first); empty where it
// does not run.
std::string version_of(const std::string& program) {
    const auto outcome = base::run({.words = {program, "--version"}}, base::Capture::output);
    if (!outcome || !outcome->is_success()) return {};
    std::istringstream lines(outcome->captured);
    for (std::string line; std::getline(lines, line);)
        if (line.contains("release") || line.contains("version")) return line;
    return outcome->first_line();
}

Finding found(std::string subject, const std::string& program) {
    const std::string version = version_of(program);
    if (version.empty())
        return {std::move(subject), Health::missing, program + " does not run", "install it again"};
    return {std::move(subject), Health::good, fmt::format("{} ({})", program, version)};
}

Finding tool(std::string subject, const std::optional<std::string>& program, std::string without) {
    if (program) return found(std::move(subject), *program);
    return {std::move(subject), Health::note, "not found: " + std::move(without),
            "install CUDA's toolkit, or scripts/setup.sh"};
}

Finding diagnose_compiler() {
    const auto clangxx = base::find_clangxx();
    if (!clangxx) return {"clang++", Health::missing, clangxx.error().text(), "scripts/setup.sh"};
    return found("clang++", *clangxx);
}

Finding diagnose_toolkit() {
    const std::string cuda = base::find_cuda();
    if (cuda.empty())
        return {"CUDA toolkit", Health::missing, "not found",
                "scripts/setup.sh, or name one: CUDA_HOME, trimtab++ --cuda-path="};
    const unsigned version = wrapper::toolkit_version(cuda);
    if (version == 0)
        return {"CUDA toolkit", Health::missing, cuda + ": its include/cuda.h has no version",
                "install CUDA's headers whole"};
    const std::string text = fmt::format("{} (CUDA {}.{})", cuda, version / 1000, version % 1000 / 10);
    // CUDA 12's headers compile, but programs are linked to the runtime of 13.
    if (version < 13000)
        return {"CUDA toolkit", Health::note, text + ": Trimtab stands in for the runtime of CUDA 13",
                "install CUDA 13"};
    return {"CUDA toolkit", Health::good, text};
}

Finding diagnose_installation() {
    static constexpr std::array libraries = {
        "libtrimtab.so",         "libtrimtab_pass.so", "libtrimtab_macro.so", "libtrimtab_cudart.so",
        "libtrimtab_choices.so", "libtrimtab_jit.so",  "libtrimtab_audit.so"};
    std::string missing;
    for (const char* name : libraries)
        if (!base::find_own_library(name)) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
    if (!base::find_own_program("trimtab++")) missing += missing.empty() ? "trimtab++" : ", trimtab++";
    if (const std::string header = base::own_prefix() + "/include/trimtab/annotate.h"; !fs::exists(header))
        missing += (missing.empty() ? "" : ", ") + header;
    if (!missing.empty())
        return {"Trimtab", Health::missing, "missing: " + missing, std::string(install_again)};
    return {"Trimtab", Health::good, base::own_prefix()};
}

Finding diagnose_opencl() {
    if (const auto library = base::find_own_library("trimtab-opencl/libclc.bc"))
        return {"OpenCL C source", Health::good, *library};
    return {"OpenCL C source", Health::note, "Trimtab was built without libclc: no .cl file can be compiled",
            "scripts/setup.sh, then build again"};
}

// "Tesla V100-SXM2-16GB (7.0)", by cuDeviceGetName and cuDeviceGetAttribute.
std::vector<std::string> gpu_names(void* driver) {
    const auto count_devices = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
    const auto get_device = reinterpret_cast<int (*)(int*, int)>(dlsym(driver, "cuDeviceGet"));
    const auto get_name = reinterpret_cast<int (*)(char*, int, int)>(dlsym(driver, "cuDeviceGetName"));
    const auto get_attribute =
        reinterpret_cast<int (*)(int*, int, int)>(dlsym(driver, "cuDeviceGetAttribute"));
    // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR.
    constexpr int major_attribute = 75, minor_attribute = 76;
    std::vector<std::string> names;
    int count = 0;
    if (count_devices == nullptr || get_device == nullptr || get_name == nullptr ||
        get_attribute == nullptr || count_devices(&count) != 0)
        return names;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        int device = 0, major = 0, minor = 0;
        std::array<char, 256> name{};
        if (get_device(&device, ordinal) != 0 || get_name(name.data(), name.size() - 1, device) != 0 ||
            get_attribute(&major, major_attribute, device) != 0 ||
            get_attribute(&minor, minor_attribute, device) != 0)
            continue;
        names.push_back(fmt::format("{} ({}.{})", name.data(), major, minor));
    }
    return names;
}

Finding diagnose_driver(bool& finds_gpu) {
    constexpr std::string_view emulator = "programs run on the emulator";
    void* driver = runtime::open_real_driver();
    if (driver == nullptr) {
        if (runtime::kernel_driver_is_there())
            return {"GPU", Health::missing, "NVIDIA's kernel driver is there, but no libcuda.so.1",
                    "install the driver's libraries, of the kernel driver's version"};
        return {"GPU", Health::note, fmt::format("no driver (libcuda.so.1): {}", emulator)};
    }
    int version = 0;
    if (const auto get = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDriverGetVersion"))) get(&version);
    const std::string serves = fmt::format("driver for CUDA {}.{}", version / 1000, version % 1000 / 10);
    finds_gpu = runtime::ask_driver().finds_gpu;
    if (!finds_gpu)
        return {"GPU", Health::note, fmt::format("{}, which finds no GPU: {}", serves, emulator),
                "nvidia-smi says why, where there is one"};
    const std::string text = fmt::format("{}, {}", fmt::join(gpu_names(driver), ", "), serves);
    if (version < 13000)
        return {"GPU", Health::missing, text + ", older than the runtime of CUDA 13",
                "a driver of release 580 or later, or the package cuda-compat-13"};
    return {"GPU", Health::good, text};
}

// A folder that files are kept in, made if it is not there.
Finding diagnose_folder(std::string subject, const std::string& path, std::string_view without) {
    if (path.empty())
        return {std::move(subject), Health::note,
                fmt::format("neither HOME nor XDG_CACHE_HOME is an absolute path: {}", without),
                "set XDG_CACHE_HOME"};
    if (const auto made = base::make_private_folder(path); !made)
        return {std::move(subject), Health::note, fmt::format("{}: {}", made.error().text(), without),
                "make it writable, or set XDG_CACHE_HOME"};
    struct statvfs disk{};
    constexpr double wanted_bytes = 1e9;  // the bounds of all that is kept there
    if (statvfs(path.c_str(), &disk) != 0) return {std::move(subject), Health::good, path};
    const double free_bytes = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
    const std::string text = fmt::format("{} ({:.1f} GB free)", path, free_bytes * 1e-9);
    if (free_bytes < wanted_bytes) return {std::move(subject), Health::note, text, "make room"};
    return {std::move(subject), Health::good, text};
}

// The store that machines share, where one is named: asked for something that nobody has put there.
std::optional<Finding> diagnose_shared_store() {
    const char* const named = secure_getenv("TRIMTAB_STORE");
    if (named == nullptr || *named == '\0') return std::nullopt;
    std::string warned;
    {
        const auto store = remote::store_of_environment([&](const std::string& text) { warned = text; });
        if (store != nullptr) (void)store->get("doctor", "none");
    }
    if (warned.empty()) return Finding{"shared store", Health::good, "TRIMTAB_STORE answers"};
    return Finding{"shared store", Health::note, std::move(warned), "docs/workers.md; builds do without it"};
}

std::string text_of(const char* path) {
    return base::read_text(path).value_or("");
}

}  // namespace

std::vector<Finding> diagnose_build() {
    return {diagnose_installation(),
            diagnose_compiler(),
            diagnose_toolkit(),
            tool("ptxas", sass::find_ptxas(), "registers are estimated from PTX"),
            tool("nvdisasm", sass::find_nvdisasm(), "machine code is not read (--sass)"),
            tool("ptxas 11.8", sass::find_older_ptxas(), "GPUs before Turing have the registers of sm_75"),
            tool("nvdisasm 12", sass::find_older_nvdisasm(),
                 "machine code of Maxwell, Pascal and Volta is not read (--sass)"),
            diagnose_opencl()};
}

Finding diagnose_counters(const std::string& driver_parameters, bool is_root) {
    const bool admin_only = driver_parameters.contains("RmProfilingAdminOnly: 1");
    if (!admin_only || is_root)
        return {"counters", Health::good, "this user may read the GPU's performance counters"};
    return {"counters", Health::note, "the driver keeps the GPU's performance counters to administrators",
            "NVreg_RestrictProfilingToAdminUsers=0 as an option of the module nvidia, or root"};
}

std::vector<Finding> diagnose_devices() {
    bool finds_gpu = false;
    std::vector<Finding> findings = {diagnose_driver(finds_gpu)};
    if (runtime::open_real_runtime() != nullptr)
        findings.push_back({"libcudart.so.13", Health::good, "found"});
    else
        findings.push_back(
            {"libcudart.so.13", finds_gpu ? Health::missing : Health::note,
             finds_gpu ? "not found: programs run on the emulator, not on the GPU"
                       : "not found: none is needed on the emulator",
             finds_gpu ? "install CUDA 13's runtime, or name its folder in LD_LIBRARY_PATH" : ""});
    if (finds_gpu)
        findings.push_back(diagnose_counters(text_of("/proc/driver/nvidia/params"), geteuid() == 0));
    return findings;
}

std::vector<Finding> diagnose_surroundings() {
    std::vector<Finding> findings = {diagnose_folder("cache",
                                                     fs::path(base::cache_path("")).parent_path().string(),
                                                     "profiles and compiled code are made again each time")};
    if (const auto folder = base::TemporaryFolder::make())
        findings.push_back(
            {"temporary files", Health::good, fs::path(folder->path()).parent_path().string()});
    else
        findings.push_back({"temporary files", Health::missing, folder.error().text(), "set TMPDIR"});
    if (auto store = diagnose_shared_store()) findings.push_back(std::move(*store));
    auto warnings = choosing::read_settings([](const char* name) { return secure_getenv(name); }).warnings;
    for (std::string& unknown : choosing::unknown_variables(environ)) warnings.push_back(std::move(unknown));
    for (std::string& warning : warnings)
        findings.push_back(
            {"environment", Health::note, std::move(warning), "trimtab's variables: docs/command-line.md"});
    return findings;
}

}  // namespace trimtab::tools
