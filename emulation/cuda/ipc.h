// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA IPC: what the handles hold that one process gives to another, and what this one has opened.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <utility>

#include "emulation/cuda/machine.h"

namespace trimtab::cuda {

// Of memory: a file of the exporting process, which the other opens by the process's and the descriptor's
// numbers as long as the exporting process has it.
struct IpcMemory {
    std::uint64_t kind = 0;  // ipc_memory
    pid_t process = 0;
    int descriptor = -1;
    std::uint64_t file = 0;  // its number in the file system, so that no other is taken for it
    std::uint64_t file_bytes = 0, offset = 0, size_bytes = 0;
};
// Of an event. Work is done when it is submitted: an event of another process has always come to pass by the
// time that a handle of it arrives.
struct IpcEvent {
    std::uint64_t kind = 0;  // ipc_event
    pid_t process = 0;
};
constexpr std::uint64_t ipc_memory = 0x5452494d4d454d31, ipc_event = 0x5452494d45565431;

struct OpenedIpcMemory {
    std::byte* pointer = nullptr;
    Heap::SharedPlace place;
    std::uint64_t times = 0;  // it was opened, and not closed
};
// By the file and the place in it.
using OpenedIpc = std::map<std::pair<std::uint64_t, std::uint64_t>, OpenedIpcMemory>;

}  // namespace trimtab::cuda
