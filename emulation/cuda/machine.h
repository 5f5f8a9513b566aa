// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The PTX machine that this room stands on, by the names that it uses of it.
#pragma once

#include "emulation/emulator/check/checker.h"
#include "emulation/emulator/device/heap.h"
#include "emulation/emulator/device/launch_timing.h"
#include "emulation/emulator/device/outside_accesses.h"
#include "emulation/emulator/device/timed_run.h"
#include "emulation/emulator/device/timeline.h"
#include "emulation/emulator/exec/launch.h"
#include "emulation/emulator/exec/memory.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/exec/texture.h"
#include "emulation/emulator/metrics/footprint_boxes.h"
#include "emulation/emulator/metrics/footprint_shape.h"

namespace trimtab::cuda {

namespace check = emulator::check;
using emulator::Access;
using emulator::Allocation;
using emulator::BlockBox;
using emulator::ClassCount;
using emulator::CountingPlan;
using emulator::Engine;
using emulator::everything_active;
using emulator::Fault;
using emulator::FootprintSample;
using emulator::GlobalMemory;
using emulator::Heap;
using emulator::HeapMemory;
using emulator::Image;
using emulator::instruction_class_count;
using emulator::InstructionCount;
using emulator::KernelInfo;
using emulator::LaunchCounters;
using emulator::LaunchCounts;
using emulator::LaunchObserver;
using emulator::LaunchRequest;
using emulator::LaunchTime;
using emulator::LaunchTimes;
using emulator::load_program;
using emulator::MemoryAccess;
using emulator::MemoryKind;
using emulator::MemoryMap;
using emulator::OutsideAccesses;
using emulator::Program;
using emulator::request_of;
using emulator::requested_boxes;
using emulator::run_and_time;
using emulator::run_only;
using emulator::Surface;
using emulator::TexelFormat;
using emulator::Texture;
using emulator::ThreadBox;
using emulator::time_key;
using emulator::TimedLaunch;
using emulator::Timeline;
using emulator::VariableStorage;
using emulator::Work;
using emulator::WrittenShape;

}  // namespace trimtab::cuda
