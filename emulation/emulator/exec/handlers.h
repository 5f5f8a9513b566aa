// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The handlers that need more of the warp than its lanes: each runs one kind of op.
#pragma once

#include "core/ptx/module.h"
#include "emulation/emulator/exec/op.h"

namespace trimtab::emulator::run {

// enter.cpp: where compiled code may take over; imm: the instruction, d: the function's number, c: the
// op's own
const Op* enter(Warp& w, const Op* op);

// control.cpp
const Op* jump(Warp& w, const Op* op);       // target
const Op* branch_if(Warp& w, const Op* op);  // predicate a; imm: the join op or 0
const Op* branch_unless(Warp& w, const Op* op);
const Op* branch_indexed(Warp& w, const Op* op);  // a; info: BranchTable
const Op* join(Warp& w, const Op* op);
const Op* guard_if(Warp& w, const Op* op);  // predicate a; target: past the matching unguard
const Op* guard_unless(Warp& w, const Op* op);
const Op* unguard(Warp& w, const Op* op);
const Op* leave(Warp& w, const Op* op);  // exit
const Op* trap(Warp& w, const Op* op);
const Op* call(Warp& w, const Op* op);           // info: CallInfo
const Op* call_indirect(Warp& w, const Op* op);  // a: addresses; info: CallInfo; imm: the join op
const Op* call_host(Warp& w, const Op* op);      // info: CallInfo
const Op* return_from(Warp& w, const Op* op);    // the function's end

// predicates.cpp
const Op* predicate_and(Warp& w, const Op* op);
const Op* predicate_or(Warp& w, const Op* op);
const Op* predicate_xor(Warp& w, const Op* op);
const Op* predicate_not(Warp& w, const Op* op);
const Op* predicate_copy(Warp& w, const Op* op);

// scalar/function.cpp
const Op* scalar_function(Warp& w, const Op* op);

// special.cpp
const Op* rounded(Warp& w, const Op* op);              // inner, rounding as imm says: a ptx::Rounding
const Op* read_clock(Warp& w, const Op* op);           // d, d_bytes; imm: bits to shift right by
const Op* read_global_timer(Warp& w, const Op* op);    // likewise, ns
const Op* read_grid_workspace(Warp& w, const Op* op);  // as read_clock
const Op* local_address(Warp& w, const Op* op);        // d = the frame's local memory + imm; d_bytes
const Op* allocate_stack(Warp& w, const Op* op);       // d, d_bytes; a: bytes (64 bits); imm: alignment
const Op* save_stack(Warp& w, const Op* op);           // d, d_bytes
const Op* restore_stack(Warp& w, const Op* op);        // a: 64 bits
const Op* carry(Warp& w, const Op* op);                // add, sub, mad with a carry; e: the carry's mask

// textures.cpp
const Op* fetch_texture(Warp& w, const Op* op);   // info: TextureAccess
const Op* access_surface(Warp& w, const Op* op);  // info: SurfaceAccess
const Op* query_image(Warp& w, const Op* op);     // d, a: handle; info: ImageQuery

// wide.cpp: 128 bits
const Op* wide_copy(Warp& w, const Op* op);
const Op* wide_pack(Warp& w, const Op* op);    // d = {a, b}
const Op* wide_unpack(Warp& w, const Op* op);  // {d, b} = a; no_operand: a sink
const Op* wide_load(Warp& w, const Op* op);
const Op* wide_store(Warp& w, const Op* op);

// matrix.cpp
const Op* matrix_multiply(Warp& w, const Op* op);   // info: MatrixMultiply
const Op* matrix_address(Warp& w, const Op* op);    // d = a + imm + a place; b: stride; info: MatrixAddresses
const Op* pack_bytes(Warp& w, const Op* op);        // d = the lowest bytes of a, b, c, e
const Op* unpack_bytes(Warp& w, const Op* op);      // d, b, c, e = the bytes of a
const Op* load_matrix(Warp& w, const Op* op);       // ldmatrix; d_bytes: matrices; a_bytes: .trans
const Op* store_matrix(Warp& w, const Op* op);      // likewise
const Op* transpose_matrix(Warp& w, const Op* op);  // movmatrix

// video.cpp
const Op* video(Warp& w, const Op* op);  // info: VideoInfo

// parameters.cpp: the frame's parameter storage at imm; elements in info
const Op* load_parameter(Warp& w, const Op* op);
const Op* store_parameter(Warp& w, const Op* op);
const Op* spill_parameter(Warp& w, const Op* op);  // info: CallValue, from caller_offset to callee_offset

// atomics.cpp
const Op* atomic(Warp& w, const Op* op);
const Op* vector_atomic(Warp& w, const Op* op);  // info: VectorAtomic

// barriers.cpp
const Op* barrier_sync(Warp& w, const Op* op);  // a: number; b: threads or no_operand
const Op* barrier_arrive(Warp& w, const Op* op);
const Op* barrier_reduce(Warp& w, const Op* op);  // c: predicate; barrier_result follows
const Op* barrier_result(Warp& w, const Op* op);  // d, a; imm: BooleanOp
const Op* cluster_arrive(Warp& w, const Op* op);
const Op* cluster_wait(Warp& w, const Op* op);
const Op* warp_sync(Warp& w, const Op* op);  // a: members

// cluster.cpp: a: address of shared memory, of `d_bytes`, `imm` more than the offset in the shared window
const Op* map_shared_rank(Warp& w, const Op* op);  // b: rank
const Op* shared_rank(Warp& w, const Op* op);

// collectives.cpp: c or e: members, no_operand: the active lanes
const Op* shuffle(Warp& w, const Op* op);
const Op* vote(Warp& w, const Op* op);
const Op* match(Warp& w, const Op* op);
const Op* reduce(Warp& w, const Op* op);
const Op* active_mask(Warp& w, const Op* op);
const Op* elect(Warp& w, const Op* op);

// counting.cpp
const Op* count_region(Warp& w, const Op* op);  // info: RegionInfo
const Op* count_guarded(Warp& w, const Op* op);
const Op* count_branch(Warp& w, const Op* op);  // before a branch: predicate a, imm: negated

// mbarrier.cpp
const Op* mbarrier(Warp& w, const Op* op);  // d: state; b: amount, no_operand: 1; d_bytes: MbarrierAction
const Op* mbarrier_wait(Warp& w, const Op* op);     // d: predicate; b: state, or where a_bytes: parity
const Op* mbarrier_pending(Warp& w, const Op* op);  // d = the count in state a
const Op* copy_bulk(Warp& w, const Op* op);         // b: bytes; info: BulkCopy

// copy_async.cpp
const Op* copy_async(Warp& w, const Op* op);

}  // namespace trimtab::emulator::run
