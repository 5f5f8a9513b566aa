// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs: what they are built from, and what runs on a device.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <expected>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulation/emulator/exec/launch.h"
#include "emulation/opencl/choice/chooser.h"
#include "emulation/opencl/front_end/front_end.h"
#include "emulation/opencl/platform/context.h"

namespace trimtab::opencl {

// What launches differ in that kernels are compiled for.
struct LaunchKind {
    std::uint32_t work_dimensions = 1;  // 1 to 3
    bool has_offset = false;
    friend auto operator<=>(const LaunchKind&, const LaunchKind&) = default;
};

// One source, compiled: for each kind of launch when it is first needed, or as a binary brought it.
class CompiledUnit {
  public:
    // Compiles for launches of the simplest kind. The error: the compiler's log.
    [[nodiscard]] static std::expected<std::shared_ptr<CompiledUnit>, CompileFailure> compile(
        CompileRequest request);
    // What binary() wrote; nullptr: it is something else, or was damaged.
    [[nodiscard]] static std::shared_ptr<CompiledUnit> from_binary(std::string_view binary);

    [[nodiscard]] const std::string& log() const { return log_; }
    [[nodiscard]] const std::vector<KernelInfo>& kernels() const { return kernels_; }
    [[nodiscard]] std::expected<std::string, std::string> ptx(LaunchKind kind);
    // The kind that is compiled for: get_work_dim() may not matter.
    [[nodiscard]] LaunchKind needed(LaunchKind kind) const {
        return asks_dimensions_ ? kind : LaunchKind{.work_dimensions = 1, .has_offset = kind.has_offset};
    }
    // For all kinds of launches.
    [[nodiscard]] std::expected<std::string, std::string> binary();

  private:
    CompileRequest request_;
    bool has_source_ = false, asks_dimensions_ = false;
    std::string log_;
    std::vector<KernelInfo> kernels_;
    std::mutex mutex_;
    std::map<LaunchKind, std::string> ptx_;
};

// A kernel, compiled for a kind of launch.
struct LoadedKernel {
    std::shared_ptr<emulator::Program> program;
    const emulator::KernelInfo* info = nullptr;
    const ptx::Function* function = nullptr;
    trimtab_image image{};
    std::vector<std::byte*> offsets;  // where its code reads the global offset: three words each
    choosing::Kernel* chosen = nullptr;
};

// Units that were linked, on one device.
class Executable {
  public:
    explicit Executable(std::vector<std::shared_ptr<CompiledUnit>> units) : units_(std::move(units)) {}

    [[nodiscard]] const std::vector<std::shared_ptr<CompiledUnit>>& units() const { return units_; }
    [[nodiscard]] const KernelInfo* kernel(std::string_view name) const;
    [[nodiscard]] std::vector<const KernelInfo*> kernels() const;
    // Never null where it is no error, which is one line.
    [[nodiscard]] std::expected<LoadedKernel*, std::string> load(const std::string& name, LaunchKind kind);

  private:
    struct Variant {
        std::unique_ptr<std::string> ptx;  // stays where it is
        std::shared_ptr<emulator::Program> program;
        std::map<std::string, trimtab_image, std::less<>> images;
        choosing::PreparedModule* module = nullptr;
        std::map<std::string, std::unique_ptr<LoadedKernel>, std::less<>> kernels;
        std::string failure;
    };
    [[nodiscard]] Variant make(LaunchKind kind);

    std::vector<std::shared_ptr<CompiledUnit>> units_;
    std::mutex mutex_;
    std::map<LaunchKind, Variant> variants_;
};

struct DeviceBuild {
    cl_build_status status = CL_BUILD_NONE;
    cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
    std::string options, log;
    std::vector<std::shared_ptr<CompiledUnit>> units;  // of objects and libraries; of executables, too
    std::shared_ptr<Executable> executable;
};

}  // namespace trimtab::opencl

struct _cl_program : trimtab::opencl::Object {
    _cl_program() : Object(trimtab::opencl::Kind::program) {}

    trimtab::opencl::Ref<_cl_context> context;
    std::vector<cl_device_id> devices;
    std::string source;
    bool has_source = false;
    std::atomic<unsigned> kernels = 0;  // the program's references to kernels of it
    std::mutex mutex;                   // of what follows
    std::map<cl_device_id, trimtab::opencl::DeviceBuild> builds;

    [[nodiscard]] bool has(cl_device_id device) const {
        return std::find(devices.begin(), devices.end(), device) != devices.end();
    }
    [[nodiscard]] std::shared_ptr<trimtab::opencl::Executable> executable(cl_device_id device) {
        const std::lock_guard lock(mutex);
        return builds[device].executable;
    }
    // Of any of its devices; null: it is not built.
    [[nodiscard]] std::shared_ptr<trimtab::opencl::Executable> any_executable();
};
