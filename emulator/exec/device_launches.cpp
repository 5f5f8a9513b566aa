// What kernels call to launch kernels: the functions of libcudadevrt. Under the second version of dynamic
// parallelism a kernel cannot wait for what it launched, so that this may all run when its grid is over.
#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/exec/block.h"
#include "emulator/exec/call_values.h"
#include "emulator/exec/worker.h"

namespace trimtab::emulator::run {
namespace {

// cudaError_t's (driver_types.h).
enum class Status : std::uint32_t {
    success = 0,
    invalid_value = 1,
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

constexpr std::uint64_t max_threads_per_block = 1024;

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
            return code(Status::success);
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
