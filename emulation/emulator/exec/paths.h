// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tree of a warp's paths: divergence, reconvergence, exits, frames.
#pragma once

#include <cstdint>

#include "emulation/emulator/exec/warp.h"

namespace trimtab::emulator {

// A fresh warp: `lanes` at `entry` in `frame`.
void start_paths(Warp& w, std::uint32_t lanes, const Op* entry, Frame* frame);

// The lanes of the current path part: `first_lanes` go to `first`, the others to `second`; both sets have
// some. All meet at `join` (nullptr: nowhere). Returns where the warp goes on.
[[nodiscard]] const Op* split_path(Warp& w, std::uint32_t first_lanes, const Op* first, const Op* second,
                                   const Op* join);

// The current path has reached the place where its siblings come together.
[[nodiscard]] const Op* arrive(Warp& w);

// Lanes of the current path exit; the path's others, if there are, go on at `next`.
[[nodiscard]] const Op* exit_lanes(Warp& w, std::uint32_t lanes, const Op* next);

// Puts the current path aside in `state`, to go on at `pc`, and turns to another.
[[nodiscard]] const Op* suspend_path(Warp& w, Path::State state, const Op* pc);

// Another path that is ready, or nullptr, and Warp::stop says why there is none.
[[nodiscard]] const Op* next_path(Warp& w);

// Where a path spins or all are stuck: lanes that wait at a join go on without the others, if there are such.
[[nodiscard]] bool release_joined_lanes(Warp& w);

// The current path gives up its turn to any other of the warp, and the warp to any other of its block.
[[nodiscard]] const Op* yield_path(Warp& w, const Op* pc);

void set_frame(Warp& w, Frame* frame);
// Lanes leave a frame; the last ones give it back.
void leave_frame(Warp& w, Frame* frame, std::uint32_t lanes);

}  // namespace trimtab::emulator
