// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/kernel_launch.h"

#include <cuda.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "core/analysis/launches/demangle.h"
#include "core/model/occupancy.h"
#include "emulation/cuda/checked_run.h"
#include "emulation/cuda/emulated_time.h"
#include "emulation/cuda/errors.h"
#include "emulation/cuda/launch_capture.h"
#include "emulation/cuda/run_log.h"
#include "emulation/cuda/written_shape.h"
#include "emulation/emulator/exec/clock_rate.h"

namespace trimtab::cuda {
namespace {

trimtab_dim3 from_cuda(const dim3& size) {
    return {.x = size.x, .y = size.y, .z = size.z};
}

std::uint64_t volume(const dim3& size) {
    return std::uint64_t{size.x} * size.y * size.z;
}

bool within(const dim3& size, double x, double y, double z) {
    return size.x > 0 && size.y > 0 && size.z > 0 && size.x <= x && size.y <= y && size.z <= z;
}

std::vector<std::byte> parameter_buffer(const ptx::Function& function, const KernelCall& call) {
    std::vector<std::byte> buffer(function.parameter_bytes());
    if (call.arguments == nullptr) {
        std::copy_n(call.packed_arguments.begin(), std::min(call.packed_arguments.size(), buffer.size()),
                    buffer.begin());
        return buffer;
    }
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        const ptx::Variable& parameter = function.parameters[i];
        std::memcpy(buffer.data() + parameter.offset_bytes, call.arguments[i], parameter.size_bytes);
    }
    return buffer;
}

std::shared_ptr<const NodeParameters> node_parameters(const Device& device, const ptx::Function& function,
                                                      const KernelCall& call,
                                                      const std::vector<std::byte>& buffer) {
    auto out = std::make_shared<NodeParameters>();
    out->argument_bytes = buffer;
    for (const ptx::Variable& parameter : function.parameters)
        out->arguments.push_back(out->argument_bytes.data() + parameter.offset_bytes);
    out->kernel = {.func = const_cast<void*>(call.function),
                   .gridDim = call.grid,
                   .blockDim = call.block,
                   .sharedMemBytes = static_cast<unsigned>(call.dynamic_shared_bytes),
                   .kernelParams = out->arguments.data(),
                   .extra = nullptr};
    for (const cudaLaunchAttribute& attribute : call.attributes) {
        if (attribute.id != cudaLaunchAttributeIgnore) out->attributes.push_back(attribute);
    }
    out->device = device.ordinal;
    return out;
}

// Of a launch: what its attribute says, else the kernel's own, which it may not contradict.
std::expected<dim3, cudaError_t> cluster_of(const CUkern_st& kernel, const ptx::Function& function,
                                            const KernelCall& call) {
    dim3 own(0, 0, 0);
    if (function.required_cluster)
        own = dim3(function.required_cluster->x, function.required_cluster->y, function.required_cluster->z);
    else if (kernel.required_cluster.x != 0)
        own = dim3(kernel.required_cluster.x, std::max(kernel.required_cluster.y, 1u),
                   std::max(kernel.required_cluster.z, 1u));
    dim3 cluster = own;
    if (const auto* given = find(call.attributes, cudaLaunchAttributeClusterDimension);
        given != nullptr && given->clusterDim.x != 0)
        cluster = dim3(given->clusterDim.x, given->clusterDim.y, given->clusterDim.z);
    if (cluster.x == 0) {
        if (function.requires_cluster) return std::unexpected(cudaErrorInvalidClusterSize);
        return dim3(1, 1, 1);
    }
    if (own.x != 0 && (own.x != cluster.x || own.y != cluster.y || own.z != cluster.z))
        return std::unexpected(cudaErrorInvalidClusterSize);
    const std::uint64_t blocks = volume(cluster);
    if (blocks == 0 || blocks > largest_cluster_of(kernel))
        return std::unexpected(cudaErrorInvalidClusterSize);
    if (call.grid.x % cluster.x != 0 || call.grid.y % cluster.y != 0 || call.grid.z % cluster.z != 0)
        return std::unexpected(cudaErrorInvalidConfiguration);
    return cluster;
}

// What tells launches apart that may take other times.
std::string key_of(const Heap& heap, const TimedLaunch& launch) {
    std::string key = time_key(heap, launch);
    // Abstract emulation follows what memory holds, wherever arguments point.
    if (times_are_emulated())
        key.append(reinterpret_cast<const char*>(launch.parameters.data()), launch.parameters.size());
    return key;
}

// The time of abstract emulation where that is asked for and can be had; else none.
EmulatedTime emulated_or_none(State& state, const Device& device, GlobalMemory& memory,
                              const TimedLaunch& launch, bool cooperative) {
    if (!times_are_emulated()) return {};
    const auto emulated = emulated_time(device, memory, launch, cooperative);
    if (emulated) return *emulated;
    state.say(fmt::format("{} takes the time of the closed form: {}", analysis::demangle(launch.info->name),
                          emulated.error()));
    return {};
}

// What it takes, counted, and with what that says of its time.
std::expected<LaunchTime, Fault> run_and_count(State& state, const Device& device, GlobalMemory& memory,
                                               const TimedLaunch& launch, bool cooperative) {
    // Before it runs: from the memory that it finds.
    const EmulatedTime emulated = emulated_or_none(state, device, memory, launch, cooperative);
    const emulator::ClockRate clock(emulated.cycles_per_instruction);
    const auto with_emulated = [&emulated](LaunchTime time) {
        if (emulated.duration_ns > 0) time.duration_ns = emulated.duration_ns;
        return time;
    };
    const auto time = run_and_time(device.description.values, memory, launch, cooperative,
                                   [&](const LaunchTime& measured, const LaunchCounts& counts) {
                                       if (state.profiles != nullptr)
                                           state.profiles->add(device.description.slug, launch,
                                                               with_emulated(measured), &counts);
                                   });
    return time ? std::expected<LaunchTime, Fault>(with_emulated(*time)) : time;
}

// Runs the kernel. Its faults are the device's, not the call's: they show at the next call.
cudaError_t run_kernel(State& state, Device& device, const TimedLaunch& launch, bool cooperative,
                       cudaStream_t stream, const LaunchCheck* check, Work& work) {
    work.engine = Engine::compute;
    capture_if_wanted(state, device, launch, cooperative);
    const trimtab_device& values = device.description.values;
    LaunchMemory memory(state.heap, state.textures);
    const CheckedLaunch watched(state.checker.get());
    std::optional<CheckedRun> checked;
    if (check != nullptr) checked.emplace(state, device, launch, *check);
    const std::string key = key_of(state.heap, launch);
    LaunchTime time;
    std::expected<void, Fault> done;
    if (!reads_emulated_clock(launch) && device.launch_times.recall(key, time)) {
        done = run_only(values, memory, launch, cooperative, time);
        if (done && state.profiles != nullptr)
            state.profiles->add(device.description.slug, launch, time, nullptr);
    } else if (const auto timed = run_and_count(state, device, memory, launch, cooperative)) {
        time = *timed;
        device.launch_times.record(key, time);
    } else {
        done = std::unexpected(timed.error());
    }
    work.duration_ns = time.duration_ns;
    work.part_of_device = time.part_of_device;
    if (RunLog* const log = run_log_of_environment(); log != nullptr && done)
        log->launched(device.description.slug, state.heap, launch, stream, time);
    if (checked) {
        if (done) checked->finish(memory, request_of(values, launch), time);
        checked->tell();
    }
    if (!done) {
        state.say(done.error().message);
        const std::lock_guard lock(state.mutex);
        device.fault = error_of(done.error().kind);
    }
    return cudaSuccess;
}

}  // namespace

const cudaLaunchAttributeValue* find(std::span<const cudaLaunchAttribute> attributes,
                                     cudaLaunchAttributeID id) {
    const auto place = std::ranges::find_if(
        attributes, [id](const cudaLaunchAttribute& attribute) { return attribute.id == id; });
    return place == attributes.end() ? nullptr : &place->val;
}

cudaLaunchAttribute cooperative_attribute() {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    return attribute;
}

std::expected<std::span<const std::byte>, cudaError_t> packed_arguments(void* const* extra) {
    const void* start = nullptr;
    std::size_t bytes = 0;
    for (void* const* entry = extra; *entry != CU_LAUNCH_PARAM_END; entry += 2) {
        if (*entry == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            start = entry[1];
        } else if (*entry == CU_LAUNCH_PARAM_BUFFER_SIZE) {
            bytes = *static_cast<const std::size_t*>(entry[1]);
        } else {
            return std::unexpected(cudaErrorInvalidValue);
        }
    }
    if (start == nullptr && bytes > 0) return std::unexpected(cudaErrorInvalidValue);
    return std::span{static_cast<const std::byte*>(start), bytes};
}

cudaError_t check_block(State& state, const Device& device, const CUkern_st& kernel,
                        const LoadedKernel& loaded, const dim3& block, std::size_t dynamic_shared_bytes) {
    const trimtab_device& values = device.description.values;
    const trimtab_image& image = loaded.image;
    const std::uint64_t threads = volume(block);
    if (!within(block, values.max_block_x, values.max_block_y, values.max_block_z) ||
        static_cast<double>(threads) > values.max_threads_per_block) {
        state.say(fmt::format(
            "{} cannot be launched with blocks of {}x{}x{}: the device's limit is {} threads "
            "a block, {}x{}x{}",
            analysis::demangle(kernel.name), block.x, block.y, block.z, values.max_threads_per_block,
            values.max_block_x, values.max_block_y, values.max_block_z));
        return cudaErrorInvalidConfiguration;
    }
    if (image.max_threads_per_block > 0 && static_cast<double>(threads) > image.max_threads_per_block) {
        state.say(fmt::format("{} cannot be launched with {} threads a block: its launch bounds allow {}",
                              analysis::demangle(kernel.name), threads, image.max_threads_per_block));
        return cudaErrorInvalidValue;
    }
    const double shared = image.static_shared_bytes + static_cast<double>(dynamic_shared_bytes);
    const double limit = kernel.max_dynamic_shared_bytes > 0
                             ? std::max(values.shared_bytes_per_block,
                                        image.static_shared_bytes + kernel.max_dynamic_shared_bytes)
                             : values.shared_bytes_per_block;
    if (shared > limit) {
        state.say(
            fmt::format("{} cannot be launched with {} bytes of dynamic shared memory: with its own {} "
                        "that is above the limit of {} (cudaFuncSetAttribute raises it to {})",
                        analysis::demangle(kernel.name), dynamic_shared_bytes, image.static_shared_bytes,
                        limit, values.shared_bytes_per_block_optin));
        return cudaErrorInvalidValue;
    }
    const auto occupancy = model::occupancy(values, image, static_cast<std::uint32_t>(threads),
                                            static_cast<double>(dynamic_shared_bytes));
    if (occupancy.blocks_per_sm == 0) {
        state.say(
            fmt::format("{} cannot be launched with {} threads a block: {} registers a thread, given out "
                        "by the warp, are more than the {} that a block may have",
                        analysis::demangle(kernel.name), threads, image.registers_per_thread,
                        values.registers_per_block));
        return cudaErrorLaunchOutOfResources;
    }
    return cudaSuccess;
}

std::expected<Operation, cudaError_t> kernel_operation(State& state, Device& device, const KernelCall& call) {
    CUkern_st* kernel = state.modules.kernel(call.function);
    if (kernel == nullptr) return std::unexpected(cudaErrorInvalidDeviceFunction);
    const trimtab_device& values = device.description.values;
    const auto loaded = state.modules.load(*kernel, device.ordinal, values);
    if (!loaded) return std::unexpected(state.failed(loaded.error()));
    if (!(*loaded)->info->error.empty()) {
        state.say((*loaded)->info->error);
        return std::unexpected(cudaErrorNotSupported);
    }
    if (!within(call.grid, values.max_grid_x, values.max_grid_y, values.max_grid_z))
        return std::unexpected(cudaErrorInvalidConfiguration);
    if (const cudaError_t status =
            check_block(state, device, *kernel, **loaded, call.block, call.dynamic_shared_bytes);
        status != cudaSuccess)
        return std::unexpected(status);
    const ptx::Function& function = *(*loaded)->function;
    if (call.arguments == nullptr && call.packed_arguments.empty() && !function.parameters.empty())
        return std::unexpected(cudaErrorInvalidValue);
    const auto cluster = cluster_of(*kernel, function, call);
    if (!cluster) return std::unexpected(cluster.error());
    const auto* asks_cooperation = find(call.attributes, cudaLaunchAttributeCooperative);
    const bool cooperative = asks_cooperation != nullptr && asks_cooperation->cooperative != 0;
    if (cooperative) {
        const auto occupancy =
            model::occupancy(values, (*loaded)->image, static_cast<std::uint32_t>(volume(call.block)),
                             static_cast<double>(call.dynamic_shared_bytes));
        if (static_cast<double>(volume(call.grid)) > occupancy.blocks_per_sm * values.sm_count)
            return std::unexpected(cudaErrorCooperativeLaunchTooLarge);
    }
    TimedLaunch launch{.program = (*loaded)->module->program,
                       .info = (*loaded)->info,
                       .image = (*loaded)->image,
                       .grid = from_cuda(call.grid),
                       .block = from_cuda(call.block),
                       .cluster = from_cuda(*cluster),
                       .dynamic_shared_bytes = static_cast<std::uint32_t>(call.dynamic_shared_bytes),
                       .parameters = parameter_buffer(function, call),
                       .observer = state.checker.get(),
                       .written = take_written_shape()};
    auto check = take_next_check();
    // Runs that results are held against see what the program is answerable for, and nothing else.
    if (check == nullptr) launch.outside = state.outside->of(launch.info->name);
    const auto parameters =
        call.is_node ? node_parameters(device, function, call, launch.parameters) : nullptr;
    return Operation{.type = cudaGraphNodeTypeKernel,
                     .run =
                         [&state, &device, launch = std::move(launch), cooperative, stream = call.stream,
                          check = std::move(check)](Work& work) {
                             return run_kernel(state, device, launch, cooperative, stream, check.get(), work);
                         },
                     .synchronous = false,
                     .calls_program = false,
                     .parameters = parameters};
}

cudaError_t launch_kernel(State& state, const KernelCall& call) {
    std::expected<Operation, cudaError_t> operation;
    {
        const std::lock_guard lock(state.mutex);
        const CUstream_st* stream = state.stream(call.stream);
        if (stream == nullptr || stream->device != state.current().ordinal)
            return cudaErrorInvalidResourceHandle;
        KernelCall known = call;
        known.is_node = stream->capture != nullptr;
        operation = kernel_operation(state, state.current(), known);
    }
    return operation ? submit(state, call.stream, std::move(*operation)) : operation.error();
}

}  // namespace trimtab::cuda
