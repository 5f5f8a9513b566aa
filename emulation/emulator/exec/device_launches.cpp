// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernels call to launch kernels: the functions of libcudadevrt. Under the second version of dynamic
// parallelism a kernel cannot wait for what it launched, so that this may all run when its grid is over.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/call_values.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator::run {
namespace {

// cudaError_t's (driver_types.h).
enum class Status : std::uint32_t {
    success = 0,
    invalid_value = 1,
    memory_allocation = 2,
    invalid_configuration = 9,
    invalid_device_function = 98
};

// What version 2 of the interface keeps in front of a parameter buffer.
struct Header {
    std::uint64_t function = 0;
    trimtab_dim3 grid{1, 1, 1}, block{1, 1, 1};
    std::uint32_t dynamic_shared_bytes = 0;
    std::uint32_t padding = 0;
};
constexpr std::uint64_t header_bytes = 64;  // parameters stay aligned
static_assert(sizeof(Header) <= header_bytes);

trimtab_dim3 size_argument(Warp& w, const CallInfo& info, std::size_t index, unsigned lane) {
    trimtab_dim3 size{1, 1, 1};
    if (index < info.arguments.size() && info.arguments[index].bytes >= sizeof size)
        std::memcpy(&size, value_place(w, info.arguments[index], lane), sizeof size);
    return size;
}

bool is_launchable(const Header& header) {
    const trimtab_dim3& block = header.block;
    const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
    return block.x <= max_threads_per_block && block.y <= max_threads_per_block && threads > 0 &&
           threads <= max_threads_per_block && header.grid.x > 0 && header.grid.y > 0 && header.grid.z > 0;
}

Status launch(Warp& w, unsigned lane, const Header& header, std::uint64_t parameters) {
    Launch& launch = w.worker->launch();
    const ptx::Function* kernel = launch.program.function_at(header.function);
    if (kernel == nullptr || !kernel->is_entry) return Status::invalid_device_function;
    if (!is_launchable(header)) return Status::invalid_configuration;
    DeviceLaunch made{.kernel = kernel,
                      .grid = header.grid,
                      .block = header.block,
                      .dynamic_shared_bytes = header.dynamic_shared_bytes,
                      .parameters = std::vector<std::byte>(kernel->parameter_bytes())};
    if (!made.parameters.empty()) {
        const std::byte* host = w.worker->host_address(w, lane, parameters, made.parameters.size());
        if (host == nullptr) return Status::invalid_value;
        std::memcpy(made.parameters.data(), host, made.parameters.size());
    }
    const std::lock_guard lock(launch.mutex);
    launch.device_launches.push_back(std::move(made));
    return Status::success;
}

std::uint64_t make_buffer(Warp& w, const CallInfo& info, unsigned lane) {
    Launch& launch = w.worker->launch();
    const Header header{
        .function = argument(w, info, 0, lane),
        .grid = size_argument(w, info, 1, lane),
        .block = size_argument(w, info, 2, lane),
        .dynamic_shared_bytes = static_cast<std::uint32_t>(argument(w, info, 3, lane)),
    };
    const ptx::Function* kernel = launch.program.function_at(header.function);
    if (kernel == nullptr) return 0;
    const std::uint64_t address = launch.program.heap().allocate(header_bytes + kernel->parameter_bytes());
    if (address == 0) return 0;
    if (std::byte* host = w.worker->host_address(w, lane, address, header_bytes); host != nullptr)
        std::memcpy(host, &header, sizeof header);
    return address + header_bytes;
}

std::uint64_t code(Status status) {
    return static_cast<std::uint64_t>(status);
}

// Bytes from the first row's start to the last one's end; nothing: more than there can be.
std::optional<std::uint64_t> extent_of(std::uint64_t width, std::uint64_t height, std::uint64_t pitch) {
    constexpr std::uint64_t most = std::uint64_t{1} << 47;
    if (width > most || height > most || pitch > most) return std::nullopt;
    if (height > 1 && (pitch < width || pitch > most / (height - 1))) return std::nullopt;
    return (height - 1) * pitch + width;
}

// The memory of the whole device alone: what belongs to a thread or block is gone when the copy is made.
std::byte* device_memory(Warp& w, unsigned lane, std::uint64_t address, std::uint64_t bytes) {
    if (address >= shared_window && address < windows_end) return nullptr;
    return w.worker->host_address(w, lane, address, bytes);
}

// `from`: 0: `copy.value` is written.
Status add_copy(Warp& w, unsigned lane, std::uint64_t to, std::uint64_t from, DeviceCopy copy) {
    if (copy.width == 0 || copy.height == 0) return Status::success;
    const auto to_bytes = extent_of(copy.width, copy.height, copy.to_pitch);
    if (!to_bytes) return Status::invalid_value;
    copy.to = device_memory(w, lane, to, *to_bytes);
    if (copy.to == nullptr) return Status::invalid_value;
    if (from != 0) {
        const auto from_bytes = extent_of(copy.width, copy.height, copy.from_pitch);
        if (!from_bytes) return Status::invalid_value;
        copy.from = device_memory(w, lane, from, *from_bytes);
        if (copy.from == nullptr) return Status::invalid_value;
    }
    Launch& launch = w.worker->launch();
    const std::lock_guard lock(launch.mutex);
    launch.device_launches.emplace_back().copy = copy;
    return Status::success;
}

// Stores a result where a pointer argument says.
template <class Value>
Status store(Warp& w, unsigned lane, std::uint64_t address, Value value) {
    std::byte* host = w.worker->host_address(w, lane, address, sizeof value);
    if (host == nullptr) return Status::invalid_value;
    std::memcpy(host, &value, sizeof value);
    return Status::success;
}

// Of cudaDeviceAttr, what kernels ask for to size their launches.
std::optional<std::int32_t> device_attribute(const Launch& launch, std::uint64_t attribute) {
    switch (attribute) {
        case 1:  // cudaDevAttrMaxThreadsPerBlock
        case 2:  // cudaDevAttrMaxBlockDimX
        case 3:
            return static_cast<std::int32_t>(max_threads_per_block);
        case 4:
            return 64;
        case 5:  // cudaDevAttrMaxGridDimX
            return std::numeric_limits<std::int32_t>::max();
        case 6:
        case 7:
            return 65535;
        case 8:  // cudaDevAttrMaxSharedMemoryPerBlock
            return 48 << 10;
        case 10:  // cudaDevAttrWarpSize
            return static_cast<std::int32_t>(warp_lanes);
        case 16:  // cudaDevAttrMultiProcessorCount
            return static_cast<std::int32_t>(std::max(launch.request.sm_count, 1u));
        default:
            return std::nullopt;
    }
}

// The calls that only ask, allocate, copy and fill.
Status call_runtime(Warp& w, const CallInfo& info, unsigned lane) {
    const auto value = [&](std::size_t index) { return argument(w, info, index, lane); };
    DeviceHeap& heap = w.worker->launch().program.heap();
    switch (info.host) {
        case HostFunction::copy:  // (to, from, bytes, kind, stream)
            if (value(1) == 0 && value(2) != 0) return Status::invalid_value;
            return add_copy(w, lane, value(0), value(1), {.width = value(2)});
        case HostFunction::copy_2d:  // (to, pitch, from, pitch, width, height, kind, stream)
            if (value(2) == 0 && value(4) != 0) return Status::invalid_value;
            return add_copy(
                w, lane, value(0), value(2),
                {.width = value(4), .height = value(5), .to_pitch = value(1), .from_pitch = value(3)});
        case HostFunction::set:  // (to, value, bytes, stream)
            return add_copy(w, lane, value(0), 0,
                            {.width = value(2), .value = static_cast<std::int32_t>(value(1))});
        case HostFunction::set_2d:  // (to, pitch, value, width, height, stream)
            return add_copy(w, lane, value(0), 0,
                            {.width = value(3),
                             .height = value(4),
                             .to_pitch = value(1),
                             .value = static_cast<std::int32_t>(value(2))});
        case HostFunction::get_device:
            return store<std::int32_t>(w, lane, value(0), 0);
        case HostFunction::get_device_count:
            return store<std::int32_t>(w, lane, value(0), 1);
        case HostFunction::get_attribute: {
            const auto found = device_attribute(w.worker->launch(), value(1));
            return found ? store(w, lane, value(0), *found) : Status::invalid_value;
        }
        case HostFunction::runtime_version:
            return store<std::int32_t>(w, lane, value(0), 13000);
        case HostFunction::allocate: {
            const std::uint64_t address = heap.allocate(std::max<std::uint64_t>(value(1), 1));
            if (address == 0) return Status::memory_allocation;
            return store(w, lane, value(0), address);
        }
        case HostFunction::release:
            if (value(0) != 0) heap.release(value(0));
            return Status::success;
        default:
            return Status::success;
    }
}

// By the lane: the function's result.
std::uint64_t call(Warp& w, const CallInfo& info, unsigned lane) {
    DeviceHeap& heap = w.worker->launch().program.heap();
    const std::uint64_t first = argument(w, info, 0, lane);
    switch (info.host) {
        case HostFunction::get_parameter_buffer:
            return heap.allocate(std::max<std::uint64_t>(argument(w, info, 1, lane), 1));
        case HostFunction::get_parameter_buffer_v2:
            return make_buffer(w, info, lane);
        case HostFunction::launch_device: {
            const std::uint64_t parameters = argument(w, info, 1, lane);
            const Header header{
                .function = first,
                .grid = size_argument(w, info, 2, lane),
                .block = size_argument(w, info, 3, lane),
                .dynamic_shared_bytes = static_cast<std::uint32_t>(argument(w, info, 4, lane)),
            };
            const Status status = launch(w, lane, header, parameters);
            heap.release(parameters);
            return code(status);
        }
        case HostFunction::launch_device_v2: {
            const std::byte* host = first < header_bytes
                                        ? nullptr
                                        : w.worker->host_address(w, lane, first - header_bytes, header_bytes);
            if (host == nullptr) return code(Status::invalid_value);
            Header header;
            std::memcpy(&header, host, sizeof header);
            const Status status = launch(w, lane, header, first);
            heap.release(first - header_bytes);
            return code(status);
        }
        case HostFunction::create_stream: {
            // All device launches of a grid run in their order: one stream is as good as another.
            const std::uint64_t stream = 1;
            std::byte* host = w.worker->host_address(w, lane, first, sizeof stream);
            if (host == nullptr) return code(Status::invalid_value);
            std::memcpy(host, &stream, sizeof stream);
            return code(Status::success);
        }
        default:
            return code(call_runtime(w, info, lane));
    }
}

}  // namespace

const Op* call_device_runtime(Warp& w, const Op* op, const CallInfo& info) {
    for (std::uint32_t rest = w.mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        give_result(w, info, lane, call(w, info, lane));
    }
    return op + 1;
}

}  // namespace trimtab::emulator::run
