// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the layer has seen of a program: devices, queues, memory, programs and kernels, by the driver's handles.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_icd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "choosing/launch_shape.h"
#include "choosing/pointer_map.h"
#include "emulation/opencl/choice/chooser.h"
#include "emulation/opencl/front_end/front_end.h"

namespace trimtab::opencl {

// A device of any driver's.
struct DeviceRecord {
    ChoiceDevice device;     // what is predicted for
    std::string left_alone;  // not empty: nothing is predicted for it, and why
};

// What a program's source is compiled to, for the choice: in the background, once somebody launches.
struct ProgramRecord {
    std::string source;
    std::string options;
    int opencl_version =
        0;  // of its devices, as __OPENCL_VERSION__ has it; 0: they have several, or none is known
    std::string left_alone;  // not empty: its code is not known, and why
    std::mutex mutex;        // of what follows
    enum class State : std::uint8_t { untouched, compiling, done } state = State::untouched;
    std::unique_ptr<CompiledProgram> code;  // stays where it is
    choosing::PreparedModule* module = nullptr;
    std::string failure;  // done without code: why
};

struct ArgumentRecord {
    std::vector<std::byte> given;  // as the program gave it; empty: it has not, or it is local memory
    bool is_set = false;
    bool is_memory = false;  // `given` is a handle, which stands for an address
    std::vector<std::byte> value = std::vector<std::byte>(least_bytes);
    static constexpr std::size_t least_bytes = 128;  // of OpenCL C's largest type
};

struct KernelRecord {
    std::string name;
    std::shared_ptr<ProgramRecord> program;
    std::atomic<unsigned> references = 1;
    std::atomic<bool> is_ready = false;  // `chosen` and `info` are there, and arguments are as they should be
    std::string left_alone;              // ready, and its launches keep their work-groups: why
    const KernelInfo* info = nullptr;
    choosing::Kernel* chosen = nullptr;
    std::vector<ArgumentRecord> arguments;
    std::vector<void*> places;  // of their values
    std::size_t unset = 0;      // arguments that the program has not given yet
    [[nodiscard]] bool has_arguments() const { return unset == 0; }
    std::mutex mutex;  // of getting ready
};

class Records {
  public:
    [[nodiscard]] static Records& instance();

    // The driver's own entry points.
    const cl_icd_dispatch* next = nullptr;

    void add_queue(cl_command_queue queue, cl_device_id device);
    [[nodiscard]] const DeviceRecord* device_of(cl_command_queue queue) const { return queues_.find(queue); }

    // Buffers get addresses of their own: where they lie on the device nobody knows, but not in each other.
    void add_memory(cl_mem memory, std::size_t bytes);
    void add_part(cl_mem part, cl_mem whole, std::size_t origin, std::size_t bytes);
    [[nodiscard]] std::uint64_t address_of(cl_mem memory) const;

    void add_program(cl_program program, std::shared_ptr<ProgramRecord> record);
    [[nodiscard]] std::shared_ptr<ProgramRecord> program_of(cl_program program) const;

    void add_kernel(cl_kernel kernel, cl_program program, const std::string& name);
    [[nodiscard]] KernelRecord* kernel_of(cl_kernel kernel) const { return kernels_.find(kernel); }
    void forget_kernel(cl_kernel kernel);

  private:
    [[nodiscard]] const DeviceRecord& describe(cl_device_id device);

    mutable std::mutex mutex_;
    std::map<cl_device_id, std::unique_ptr<DeviceRecord>> devices_;
    std::map<cl_mem, std::uint64_t> memory_;
    std::uint64_t next_address_ = std::uint64_t{1} << 60;  // above what any process owns
    std::map<cl_program, std::shared_ptr<ProgramRecord>> programs_;
    std::map<cl_kernel, std::unique_ptr<KernelRecord>> owned_kernels_;
    choosing::PointerMap<const DeviceRecord> queues_;
    choosing::PointerMap<KernelRecord> kernels_;
};

// How far the kernel's code is: false, it is on its way, or it is left alone. Waits for it under TRIMTAB_MODULES=wait.
[[nodiscard]] bool make_ready(KernelRecord& kernel);

// What the program gave as an argument; null: local memory.
void note_argument(KernelRecord& kernel, cl_uint index, std::size_t size, const void* value);
// The same, an address of shared memory.
void note_pointer(KernelRecord& kernel, cl_uint index, const void* pointer);

}  // namespace trimtab::opencl
