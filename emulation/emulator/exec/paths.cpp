// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/exec/paths.h"

#include <bit>

#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/worker.h"

namespace trimtab::emulator {
namespace {

int new_path(Warp& w) {
    for (std::size_t i = 0; i < w.paths.size(); i++) {
        if (w.paths[i].state == Path::State::free) return static_cast<int>(i);
    }
    w.paths.emplace_back();
    return static_cast<int>(w.paths.size() - 1);
}

Path& path(Warp& w, int index) {
    return w.paths[static_cast<std::size_t>(index)];
}

int add_child(Warp& w, int parent, std::uint32_t lanes, const Op* pc, Frame* frame, const Op* join,
              Frame* join_frame) {
    const int index = new_path(w);
    Path& made = path(w, index);
    made = Path{};
    made.state = Path::State::ready;
    made.pc = pc;
    made.lanes = lanes;
    made.frame = frame;
    made.join = join;
    made.join_frame = join_frame;
    made.parent = parent;
    if (parent >= 0) path(w, parent).children++;
    return index;
}

const Op* activate(Warp& w, int index) {
    const Path& p = path(w, index);
    w.current = index;
    w.path_lanes = p.lanes;
    w.set_mask(p.lanes);
    w.join = p.join;
    w.join_frame = p.join_frame;
    if (w.frame != p.frame) set_frame(w, p.frame);
    return p.pc;
}

// A path is gone; its parent goes on if it was the last child and lanes of it wait.
const Op* drop(Warp& w, int index) {
    for (;;) {
        Path& p = path(w, index);
        const int parent = p.parent;
        p.state = Path::State::free;
        if (parent < 0) break;
        Path& above = path(w, parent);
        if (--above.children != 0) break;
        if (above.lanes != 0) {
            above.state = Path::State::ready;
            return activate(w, parent);
        }
        index = parent;
    }
    w.current = -1;
    return next_path(w);
}

}  // namespace

void set_frame(Warp& w, Frame* frame) {
    w.frame = frame;
    w.bases[static_cast<unsigned>(Base::registers)] = frame->registers;
    w.bases[static_cast<unsigned>(Base::constants)] = frame->constants;
}

void leave_frame(Warp& w, Frame* frame, std::uint32_t lanes) {
    frame->lanes &= ~lanes;
    // The outermost frame is the warp's own.
    if (frame->lanes == 0 && frame->caller != nullptr) w.worker->give_back(frame);
}

void start_paths(Warp& w, std::uint32_t lanes, const Op* entry, Frame* frame) {
    w.paths.resize(1);
    Path& p = w.paths.front();
    p = Path{};
    p.state = Path::State::ready;
    p.pc = entry;
    p.lanes = lanes;
    p.frame = frame;
    w.live = lanes;
    w.current = 0;
    w.path_lanes = lanes;
    w.set_mask(lanes);
    w.join = nullptr;
    w.join_frame = nullptr;
    set_frame(w, frame);
}

const Op* split_path(Warp& w, std::uint32_t first_lanes, const Op* first, const Op* second, const Op* join) {
    const std::uint32_t second_lanes = w.path_lanes & ~first_lanes;
    const bool first_arrives = join != nullptr && first == join;
    const bool second_arrives = join != nullptr && second == join;
    int parent = -1, reused = -1;
    if (join == nullptr || (w.join == join && w.join_frame == w.frame)) {
        // They come together where the path itself does.
        reused = w.current;
        parent = path(w, reused).parent;
        join = w.join;
    } else {
        parent = w.current;
        Path& p = path(w, parent);
        p.state = Path::State::joining;
        p.pc = join;
        p.frame = w.frame;
        p.children = 0;
    }
    Frame* const frame = w.frame;
    Frame* const join_frame = reused >= 0 ? w.join_frame : frame;
    const auto branch = [&](std::uint32_t lanes, const Op* pc) {
        if (reused < 0) return add_child(w, parent, lanes, pc, frame, join, join_frame);
        const int index = reused;
        reused = -1;
        Path& p = path(w, index);
        p.state = Path::State::ready;
        p.lanes = lanes;
        p.pc = pc;
        p.frame = frame;
        return index;
    };
    int next = -1;
    if (!first_arrives) next = branch(first_lanes, first);
    if (!second_arrives) next = branch(second_lanes, second);
    return activate(w, next);
}

const Op* arrive(Warp& w) {
    return drop(w, w.current);
}

const Op* exit_lanes(Warp& w, std::uint32_t lanes, const Op* next) {
    w.live &= ~lanes;
    for (Frame* frame = w.frame; frame != nullptr;) {
        Frame* const caller = frame->caller;
        leave_frame(w, frame, lanes);
        frame = caller;
    }
    for (int i = w.current; i >= 0; i = path(w, i).parent) path(w, i).lanes &= ~lanes;
    w.path_lanes &= ~lanes;
    w.block->lanes_exited(lanes);
    if (w.live == 0) {  // all is over
        w.current = -1;
        w.stop = Warp::Stop::finished;
        return nullptr;
    }
    if (w.path_lanes != 0) {
        w.set_mask(w.path_lanes);
        return next;
    }
    return drop(w, w.current);
}

const Op* suspend_path(Warp& w, Path::State state, const Op* pc) {
    Path& p = path(w, w.current);
    p.state = state;
    p.pc = pc;
    p.frame = w.frame;
    p.lanes = w.path_lanes;
    w.current = -1;
    return next_path(w);
}

const Op* yield_path(Warp& w, const Op* pc) {
    Path& p = path(w, w.current);
    p.state = Path::State::ready;
    p.pc = pc;
    p.frame = w.frame;
    p.lanes = w.path_lanes;
    w.last_spun = w.current;
    w.current = -1;
    w.stop = Warp::Stop::yielded;
    return nullptr;
}

const Op* next_path(Warp& w) {
    bool waits = false;
    int spun = -1;
    for (std::size_t i = w.paths.size(); i-- > 0;) {
        if (w.paths[i].state == Path::State::ready) {
            if (static_cast<int>(i) != w.last_spun) return activate(w, static_cast<int>(i));
            spun = w.last_spun;
        }
        waits = waits || w.paths[i].state != Path::State::free;
    }
    w.last_spun = -1;
    if (spun >= 0) return activate(w, spun);
    w.current = -1;
    w.stop = waits ? Warp::Stop::waiting : Warp::Stop::finished;
    return nullptr;
}

bool release_joined_lanes(Warp& w) {
    for (std::size_t i = w.paths.size(); i-- > 0;) {
        if (w.paths[i].state != Path::State::joining) continue;
        std::uint32_t elsewhere = 0;
        for (const Path& child : w.paths) {
            if (child.state != Path::State::free && child.parent == static_cast<int>(i))
                elsewhere |= child.lanes;
        }
        const std::uint32_t arrived = w.paths[i].lanes & ~elsewhere;
        if (arrived == 0) continue;
        w.paths[i].lanes = elsewhere;
        const Path from = w.paths[i];
        add_child(w, from.parent, arrived, from.pc, from.frame, from.join, from.join_frame);
        return true;
    }
    return false;
}

}  // namespace trimtab::emulator
