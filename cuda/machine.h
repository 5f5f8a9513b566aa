// The PTX machine that this room stands on, by the names that it uses of it.
#pragma once

#include "emulator/check/checker.h"
#include "emulator/exec/launch.h"
#include "emulator/exec/memory.h"
#include "emulator/exec/program.h"
#include "emulator/exec/texture.h"
#include "emulator/metrics/footprint_boxes.h"
#include "emulator/metrics/footprint_shape.h"

namespace trimtab::cuda {

namespace check = emulator::check;
using emulator::Access;
using emulator::BlockBox;
using emulator::ClassCount;
using emulator::CountingPlan;
using emulator::everything_active;
using emulator::Fault;
using emulator::FootprintSample;
using emulator::GlobalMemory;
using emulator::instruction_class_count;
using emulator::InstructionCount;
using emulator::KernelInfo;
using emulator::LaunchCounters;
using emulator::LaunchObserver;
using emulator::LaunchRequest;
using emulator::load_program;
using emulator::Program;
using emulator::requested_boxes;
using emulator::Surface;
using emulator::TexelFormat;
using emulator::Texture;
using emulator::ThreadBox;
using emulator::VariableStorage;
using emulator::WrittenShape;

}  // namespace trimtab::cuda
