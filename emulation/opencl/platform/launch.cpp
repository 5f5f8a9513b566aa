// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches: from a global size to a grid, with the work-groups that are chosen for it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "choosing/launch_shape.h"
#include "emulation/emulator/device/timed_run.h"
#include "emulation/opencl/choice/open_work_group.h"
#include "emulation/opencl/platform/event.h"
#include "emulation/opencl/platform/info.h"
#include "emulation/opencl/platform/kernel.h"
#include "emulation/opencl/platform/work_groups.h"

namespace trimtab::opencl {
namespace {

// A launch's sizes as the program gave them.
struct GivenRange {
    cl_uint dimensions = 0;
    const size_t *offset = nullptr, *global = nullptr, *local = nullptr;
};
// The same, checked.
struct Range {
    std::uint32_t dimensions = 1;
    Size3 global{1, 1, 1}, offset{0, 0, 0}, local{0, 0, 0};
    bool has_offset = false, is_open = false;  // open: the program leaves the work-group to us
    [[nodiscard]] bool is_empty() const { return global[0] * global[1] * global[2] == 0; }
};

std::expected<Range, cl_int> read_range(const _cl_device_id& device, const KernelInfo& kernel,
                                        std::size_t largest, const GivenRange& given) {
    const auto& [dimensions, offset, global, local] = given;
    const trimtab_device& values = device.description.values;
    const double most[3] = {values.max_block_x, values.max_block_y, values.max_block_z};
    if (dimensions < 1 || dimensions > 3) return std::unexpected(CL_INVALID_WORK_DIMENSION);
    if (global == nullptr) return std::unexpected(CL_INVALID_GLOBAL_WORK_SIZE);
    Range range{.dimensions = dimensions};
    std::size_t items = 1;
    const auto& required = kernel.required_size;
    for (cl_uint d = 0; d < dimensions; ++d) {
        range.global[d] = global[d];
        if (offset != nullptr && offset[d] != 0) {
            if (offset[d] > SIZE_MAX - global[d]) return std::unexpected(CL_INVALID_GLOBAL_OFFSET);
            range.offset[d] = offset[d];
            range.has_offset = true;
        }
        if (local == nullptr) continue;
        if (local[d] == 0) return std::unexpected(CL_INVALID_WORK_GROUP_SIZE);
        if (static_cast<double>(local[d]) > most[d]) return std::unexpected(CL_INVALID_WORK_ITEM_SIZE);
        items *= local[d];
        range.local[d] = local[d];
        if (global[d] % local[d] != 0) return std::unexpected(CL_INVALID_WORK_GROUP_SIZE);
    }
    if (items > largest) return std::unexpected(CL_INVALID_WORK_GROUP_SIZE);
    for (std::size_t d = 0; d < 3; ++d) {
        if (local != nullptr && d >= dimensions) range.local[d] = 1;
        if (required[0] == 0) continue;
        if (local != nullptr && range.local[d] != required[d])
            return std::unexpected(CL_INVALID_WORK_GROUP_SIZE);
        if (range.global[d] % required[d] != 0) return std::unexpected(CL_INVALID_WORK_GROUP_SIZE);
        range.local[d] = required[d];
    }
    if (local == nullptr && required[0] == 0) {
        range.is_open = true;
        range.local = open_work_group(range.global, kernel.size_hint, values, largest);
    }
    return range;
}

trimtab_dim3 to_dim3(const Size3& size) {
    return {.x = static_cast<std::uint32_t>(size[0]),
            .y = static_cast<std::uint32_t>(size[1]),
            .z = static_cast<std::uint32_t>(size[2])};
}

// The kernel's parameter buffer, and what must stay as long as it is in use.
struct Parameters {
    std::vector<std::byte> bytes;
    std::vector<void*> places;  // of each argument, in `bytes`
    std::vector<Ref<_cl_mem>> memory;
    std::size_t shared_bytes = 0;  // static and local arguments together
};

Parameters parameters_of(const _cl_kernel& kernel, const LoadedKernel& loaded) {
    Parameters out;
    out.bytes.resize(loaded.function->parameter_bytes());
    out.shared_bytes = loaded.info->static_shared_bytes;
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
        const KernelArgument& argument = kernel.arguments[i];
        std::byte* place = out.bytes.data() + loaded.function->parameters[i].offset_bytes;
        out.places.push_back(place);
        std::copy(argument.bytes.begin(), argument.bytes.end(), place);
        if (argument.memory) out.memory.push_back(argument.memory);
        if (argument.local_bytes == 0) continue;
        // An offset in the work-group's shared memory, aligned as any type of OpenCL C wants.
        const std::uint64_t at = (out.shared_bytes + address_alignment_bytes - 1) / address_alignment_bytes *
                                 address_alignment_bytes;
        std::memcpy(place, &at, sizeof at);
        out.shared_bytes = at + argument.local_bytes;
    }
    return out;
}

// With what a command of a launch runs.
struct Launch {
    Ref<_cl_context> context;
    cl_device_id device = nullptr;
    LoadedKernel* kernel = nullptr;
    std::shared_ptr<Executable> executable;  // holds the kernel
    std::vector<Ref<_cl_mem>> memory;
    emulator::TimedLaunch timed;
    Size3 offset{};
};

cl_int run(const Launch& launch, emulator::Work& work) {
    _cl_device_id& device = *launch.device;
    const trimtab_device& values = device.description.values;
    const std::lock_guard lock(device.execution);
    for (std::byte* place : launch.kernel->offsets)
        std::memcpy(place, launch.offset.data(), sizeof launch.offset);
    emulator::Heap& heap = Platform::instance().heap();
    LaunchMemory memory(heap);
    const std::string key = emulator::time_key(heap, launch.timed);
    emulator::LaunchTime time;
    std::expected<void, emulator::Fault> done;
    if (device.launch_times.recall(key, time)) {
        done = emulator::run_only(values, memory, launch.timed, false, time);
    } else if (const auto timed = emulator::run_and_time(values, memory, launch.timed, false)) {
        time = *timed;
        device.launch_times.record(key, time);
    } else {
        done = std::unexpected(timed.error());
    }
    work = {.engine = emulator::Engine::compute,
            .duration_ns = time.duration_ns,
            .part_of_device = time.part_of_device};
    if (done) return CL_COMPLETE;
    launch.context->say(done.error().message);
    return CL_OUT_OF_RESOURCES;
}

cl_int enqueue(cl_kernel kernel, const GivenRange& given, const Submission& submission) {
    cl_command_queue queue = submission.queue;
    if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
    if (!is_a(kernel, Kind::kernel)) return CL_INVALID_KERNEL;
    if (queue->context.get() != kernel->program->context.get()) return CL_INVALID_CONTEXT;
    cl_device_id device = queue->device;
    auto executable = kernel->executable_of(device);
    if (executable == nullptr) return CL_INVALID_PROGRAM_EXECUTABLE;
    const auto plain = executable->load(kernel->info->name, {});
    if (!plain) return CL_INVALID_PROGRAM_EXECUTABLE;
    const auto range =
        read_range(*device, *kernel->info, largest_work_group(*device, (*plain)->image), given);
    if (!range) return range.error();
    if (std::ranges::any_of(kernel->arguments, [](const KernelArgument& a) { return !a.is_set; }))
        return CL_INVALID_KERNEL_ARGS;
    const auto list = wait_list_of(submission.wait_count, submission.wait_list);
    if (!list) return list.error();
    if (range->is_empty()) return Scheduler::instance().submit(submission, {});

    const auto loaded = executable->load(
        kernel->info->name, {.work_dimensions = given.dimensions, .has_offset = range->has_offset});
    if (!loaded) {
        queue->context->say(loaded.error());
        return CL_OUT_OF_RESOURCES;
    }
    Parameters parameters = parameters_of(*kernel, **loaded);
    const trimtab_device& values = device->description.values;
    if (static_cast<double>(parameters.shared_bytes) > values.shared_bytes_per_block)
        return CL_OUT_OF_RESOURCES;
    const std::size_t dynamic_bytes = parameters.shared_bytes - (*loaded)->info->static_shared_bytes;
    const double most_groups[3] = {values.max_grid_x, values.max_grid_y, values.max_grid_z};
    for (std::size_t d = 0; d < 3; ++d) {
        const std::size_t groups = range->global[d] / range->local[d];
        if (static_cast<double>(groups) > most_groups[d]) return CL_INVALID_GLOBAL_WORK_SIZE;
    }
    choosing::LaunchShape shape;
    shape.written.block = to_dim3(range->local);
    shape.written.grid = to_dim3({range->global[0] / range->local[0], range->global[1] / range->local[1],
                                  range->global[2] / range->local[2]});
    shape.written.dynamic_shared_bytes = dynamic_bytes;
    shape.arguments = parameters.places.data();  // in a buffer that stays where it is when it is handed on

    Launch launch{.context = queue->context,
                  .device = device,
                  .kernel = *loaded,
                  .executable = std::move(executable),
                  .memory = std::move(parameters.memory),
                  .timed = {.program = (*loaded)->program,
                            .info = (*loaded)->info,
                            .image = (*loaded)->image,
                            .grid = shape.written.grid,
                            .block = shape.written.block,
                            .dynamic_shared_bytes = static_cast<std::uint32_t>(dynamic_bytes),
                            .parameters = std::move(parameters.bytes),
                            .written = {},
                            .outside = Platform::instance().outside().of((*loaded)->info->name)},
                  .offset = range->offset};
    Chooser& chooser = Chooser::instance();
    if (chooser.is_active()) {
        choosing::RememberedChoice remembered;
        bool is_changed = false;
        Chooser::Pending pending;
        const char* keep = range->has_offset                     ? "it is launched with a global offset"
                           : kernel->info->required_size[0] != 0 ? "the kernel requires its work-group's size"
                                                                 : nullptr;
        if (keep == nullptr &&
            chooser.recall(*(*loaded)->chosen, shape, device->ordinal, pending, remembered, is_changed)) {
            if (is_changed) {
                launch.timed.grid = remembered.launch.grid;
                launch.timed.block = remembered.launch.block;
            }
        } else {
            const choosing::Decision decision = chooser.decide(
                *(*loaded)->chosen, shape,
                {.values = values, .name = device->description.slug, .ordinal = device->ordinal}, keep,
                range->is_open, pending);
            launch.timed.grid = decision.launch.grid;
            launch.timed.block = decision.launch.block;
        }
        if (!choosing::same(launch.timed.block, shape.written.block) ||
            !choosing::same(launch.timed.grid, shape.written.grid))
            launch.timed.written =
                emulator::WrittenShape{.grid = shape.written.grid, .block = shape.written.block};
    }
    return Scheduler::instance().submit(submission, [launch = std::make_shared<Launch>(std::move(launch))](
                                                        emulator::Work& work) { return run(*launch, work); });
}

}  // namespace
}  // namespace trimtab::opencl

using namespace trimtab::opencl;

cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                          const size_t* offset, const size_t* global, const size_t* local,
                                          cl_uint wait_count, const cl_event* wait_list, cl_event* event) {
    return guarded([&] {
        return enqueue(kernel, {dimensions, offset, global, local},
                       {queue, CL_COMMAND_NDRANGE_KERNEL, wait_count, wait_list, event});
    });
}

cl_int CL_API_CALL clEnqueueTask(cl_command_queue queue, cl_kernel kernel, cl_uint wait_count,
                                 const cl_event* wait_list, cl_event* event) {
    const size_t one = 1;
    return guarded([&] {
        return enqueue(kernel, {1, nullptr, &one, &one},
                       {queue, CL_COMMAND_TASK, wait_count, wait_list, event});
    });
}

cl_int CL_API_CALL clEnqueueNativeKernel(cl_command_queue queue, void(CL_CALLBACK* function)(void*),
                                         void* arguments, size_t bytes, cl_uint memory_count,
                                         const cl_mem* memory, const void** places, cl_uint wait_count,
                                         const cl_event* wait_list, cl_event* event) {
    return guarded([&]() -> cl_int {
        if (!is_a(queue, Kind::queue)) return CL_INVALID_COMMAND_QUEUE;
        if (function == nullptr || (arguments == nullptr && (bytes > 0 || memory_count > 0)) ||
            (arguments != nullptr && bytes == 0) ||
            (memory_count > 0 && (memory == nullptr || places == nullptr)) ||
            (memory_count == 0 && (memory != nullptr || places != nullptr)))
            return CL_INVALID_VALUE;
        const auto* start = static_cast<const std::byte*>(arguments);
        auto copy = std::make_shared<std::vector<std::byte>>(start, start + bytes);
        std::vector<Ref<_cl_mem>> kept;
        for (cl_uint i = 0; i < memory_count; ++i) {
            if (!is_a(memory[i], Kind::memory)) return CL_INVALID_MEM_OBJECT;
            const std::ptrdiff_t at = static_cast<const std::byte*>(places[i]) - start;
            if (at < 0 || static_cast<size_t>(at) + sizeof(void*) > bytes) return CL_INVALID_VALUE;
            std::memcpy(copy->data() + at, static_cast<const void*>(&memory[i]->bytes), sizeof(void*));
            kept.emplace_back(memory[i]);
        }
        return Scheduler::instance().submit({.queue = queue,
                                             .type = CL_COMMAND_NATIVE_KERNEL,
                                             .wait_count = wait_count,
                                             .wait_list = wait_list,
                                             .event = event},
                                            [=](trimtab::emulator::Work&) -> cl_int {
                                                function(copy->data());
                                                return CL_COMPLETE;
                                            });
    });
}
