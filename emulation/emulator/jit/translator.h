// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function of a kernel, from PTX to LLVM IR: a warp is a vector of 32 lanes.
//
// The function made has the type of Handler. It is called at an entry op, keeps the function's registers in
// virtual registers of its own, and returns the op at which the interpreter is to go on: where lanes diverge,
// where a path is put aside, where it exits. What is needed later has then been written back to the frame.
// Lanes that are not on the path compute whatever they compute: they are left out where values go to memory
// and where they decide about control.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/ptx/control_flow.h"
#include "emulation/emulator/exec/code.h"
#include "emulation/emulator/jit/open_nans.h"
#include "emulation/emulator/jit/register_room.h"
#include "emulation/emulator/jit/run_hints.h"
#include "emulation/emulator/jit/shapes.h"
#include "emulation/emulator/jit/warp_layout.h"

namespace trimtab::emulator::jit {

// A scalar where the shape is uniform; lane 0's value, as a scalar, where it is a pattern; a vector of those
// of each run's first lane where it is in runs; else a vector of all lanes.
struct Value {
    Shape shape;
    llvm::Value* v = nullptr;
    [[nodiscard]] bool is_scalar() const { return shape.is_uniform(); }
};

[[nodiscard]] constexpr std::uint32_t offset_of(OperandRef ref) {
    return ref & ((1u << base_shift) - 1);
}

class Translator {
  public:
    // `has_gather`: the processor loads and stores lanes at addresses of their own.
    Translator(llvm::Module& module, const FunctionCode& code, const LanePatterns& lanes, bool is_counted,
               bool has_gather);
    // False: this function stays the interpreter's.
    [[nodiscard]] bool run(const std::string& name);
    // Its registers lie in memory: it takes LLVM too long otherwise.
    [[nodiscard]] bool is_large() const { return room_.has_value(); }
    void keep_in_registers() { may_be_large_ = false; }

  private:
    using Operand = ptx::Operand;
    using Instruction = ptx::Instruction;

    // --- translator.cpp: the function as a whole
    void find_entries();
    void make_prologue();
    void make_registers();
    void translate_block(ptx::BlockIndex block);
    void translate_instruction(std::uint32_t index);
    void translate_work(std::uint32_t index);  // less the region that it may begin
    void enter_at(std::uint32_t index, llvm::BasicBlock* to);
    void write_destination(const Instruction& instruction, const Operand& to, Value value);
    void run_handlers(std::uint32_t index);
    // Calls the interpreter for the instruction, whose operands are in the frame.
    [[nodiscard]] llvm::Value* call_handlers(std::uint32_t index);

    // --- translate_control.cpp
    void translate_branch(std::uint32_t index);
    void jump(std::uint32_t index, ptx::BlockIndex to);
    void fall_through(ptx::BlockIndex to);
    llvm::BasicBlock* way_into(ptx::BlockIndex block);
    // Leaves for the interpreter before instruction `index`, at its first op or at another.
    llvm::BasicBlock* exit_before(std::uint32_t index);
    llvm::BasicBlock* make_exit(const ptx::RegisterSet& live, llvm::Value* op);
    // Goes on in a new block where the condition holds; else to `other`.
    void expect(llvm::Value* condition, llvm::BasicBlock* other);
    void leave(llvm::Value* op);
    // At the kernel's end: Warp::more_warps.
    void go_on_as_next_warp(std::uint32_t index);

    // --- translate_values.cpp
    llvm::Type* scalar_type(unsigned bytes);  // 0: a predicate
    llvm::Type* vector_type(unsigned bytes);
    llvm::Type* register_type(ptx::RegisterIndex reg);
    llvm::Value* splat(llvm::Value* scalar);
    llvm::Value* vector(const Value& value);  // all lanes of a value
    llvm::Value* integer(unsigned bytes, std::uint64_t bits);
    Value uniform(llvm::Value* scalar) { return {Shape::uniform(), scalar}; }
    Value general(llvm::Value* vector) { return {Shape::general(), vector}; }
    Value shaped(llvm::Value* value);  // uniform if it is no vector
    Value read(ptx::RegisterIndex reg);
    Value read_open(ptx::RegisterIndex reg);  // whatever its NaNs are: OpenNans
    void write(ptx::RegisterIndex reg, Value value);
    Value fit(const Value& value, const Shape& shape);  // in the representation of `shape`
    Value in_runs(const Value& value);                  // unless it is general
    [[nodiscard]] unsigned run_count() const { return warp_lanes / shapes_->run_lanes(); }
    [[nodiscard]] std::uint32_t run_mask() const { return all_lanes >> (warp_lanes - shapes_->run_lanes()); }
    llvm::Value* lane_of_run(unsigned run);
    llvm::Constant* offset_vector(llvm::ArrayRef<std::int64_t> offsets, llvm::Type* type);
    enum class Nans : std::uint8_t { exact, any };
    std::optional<Value> source(const Operand& operand, unsigned bytes, ptx::Type type,
                                Nans nans = Nans::exact);
    [[nodiscard]] Nans nans_of(const Operand& to) const;  // that may be written to a register
    std::optional<Value> predicate(const Operand& operand);
    llvm::Value* resize(llvm::Value* value, unsigned bytes, bool sign);
    llvm::Value* frame_address(OperandRef ref);
    llvm::Value* lane_address(llvm::Value* base, unsigned bytes, llvm::Value* lane);
    void load_register(ptx::RegisterIndex reg);
    void store_register(ptx::RegisterIndex reg);
    llvm::Value* service(std::size_t offset);  // of Services
    void load_registers(const ptx::RegisterSet& registers);
    void store_registers(const ptx::RegisterSet& registers);
    llvm::Value* bits_of(llvm::Value* predicate);  // <32 x i1> or i1 -> i32
    llvm::Value* lanes_of(llvm::Value* bits);      // i32 -> <32 x i1>
    llvm::Value* field(std::size_t offset, llvm::Type* type);
    // Nothing writes there while the code runs.
    llvm::Value* invariant(llvm::Value* load);
    llvm::Value* op_at(std::uint32_t index);
    llvm::Value* guard_lanes(const Instruction& instruction);  // i32: of the path, where the guard holds
    const Op* memory_op(std::uint32_t index) const;
    // Behind the instruction's own ops: what belongs to the next one, a join or an entry, is left out.
    std::uint32_t end_op(std::uint32_t index) const;

    // --- translate_integer.cpp, translate_real.cpp, translate_convert.cpp: false: not here
    [[nodiscard]] bool translate_arithmetic(const Instruction& instruction, std::uint32_t index);
    [[nodiscard]] bool translate_integer(const Instruction& instruction);
    [[nodiscard]] bool translate_real(const Instruction& instruction);
    [[nodiscard]] bool translate_compare(const Instruction& instruction);
    [[nodiscard]] bool translate_select(const Instruction& instruction);
    [[nodiscard]] bool translate_logic(const Instruction& instruction);
    [[nodiscard]] bool translate_move(const Instruction& instruction, std::uint32_t index);
    [[nodiscard]] bool translate_convert(const Instruction& instruction, std::uint32_t index);
    [[nodiscard]] bool translate_product(const Instruction& instruction, std::uint32_t index);
    // a and b as scalars if both are uniform, else as vectors.
    bool operands(const Instruction& instruction, unsigned bytes, std::vector<llvm::Value*>& out,
                  unsigned shift_from = 99, Nans nans = Nans::exact);
    void even(std::vector<llvm::Value*>& values);
    llvm::Value* constant_like(llvm::Value* like, std::uint64_t bits);
    llvm::Value* as_real(llvm::Value* bits);
    llvm::Value* as_bits(llvm::Value* real);
    llvm::Value* canonical(llvm::Value* real);  // bits
    llvm::Value* flush(llvm::Value* bits, bool ftz);
    llvm::Value* shift(ptx::Opcode opcode, llvm::Value* a, llvm::Value* by, bool sign);
    llvm::Value* divide(llvm::Value* a, llvm::Value* b, bool sign, bool remainder);
    // A pattern of 32 bits made 64 bits wide: leaves for the interpreter where a lane wraps around.
    llvm::Value* widen_pattern(const Value& value, bool sign, std::uint32_t index);

    // --- translate_memory.cpp
    [[nodiscard]] bool translate_load(const Instruction& instruction, std::uint32_t index);
    [[nodiscard]] bool translate_store(const Instruction& instruction, std::uint32_t index);
    [[nodiscard]] bool translate_parameter(const Instruction& instruction, std::uint32_t index);
    struct Access {
        Shape shape;                   // of the addresses
        llvm::Value* host = nullptr;   // of lane 0: a pointer; general: a vector of pointers
        llvm::Value* lanes = nullptr;  // i32: that take part
        llvm::BasicBlock* slow = nullptr;
        llvm::Value* address = nullptr;  // of lane 0; runs: of each run's first lane; general: of all
        unsigned element_bytes = 0, count = 1, total_bytes = 0;
        const Op* op = nullptr;
        llvm::Value *first = nullptr, *end = nullptr, *delta = nullptr;  // its range
        std::uint64_t alignment = 0;                                     // minus 1
        // General: what is not checked yet.
        llvm::Value* addresses = nullptr;
        std::optional<Offsets> hint;
        // Not empty: it is made by runs, whose lanes are all at one place, or one behind the other.
        std::vector<llvm::Value*> run_hosts;  // of each run's first lane
        bool is_same_in_runs = false;
    };
    void check_each(Access& access);
    // Goes on where the lanes lie in runs as hinted, and all are in range; else at the block returned,
    // nullptr if there is no such hint.
    llvm::BasicBlock* check_runs(Access& access);
    llvm::Value* load_runs(const Access& access, unsigned element);
    llvm::Value* joined(std::vector<llvm::Value*> parts);
    // Asks for what the block beside this one will want there.
    void prefetch_for_neighbour(const Access& access, std::uint32_t index);
    void store_runs(const Access& access, const Value& value);
    llvm::Value* load_element(const Access& access, unsigned element);
    void store_element(const Access& access, unsigned element, const Value& value);
    void store_lanes(const Access& access, const std::vector<llvm::Value*>& parts,
                     const std::vector<llvm::Value*>& hosts);
    struct Run {  // lanes [first, first + count): all at one place, or one behind the other
        unsigned first = 0, count = 0;
        bool consecutive = false;
    };
    [[nodiscard]] static std::vector<Run> runs_of(const Access& access);
    void finish_slow(const Access& access, std::uint32_t index, llvm::BasicBlock* done,
                     const std::vector<std::pair<ptx::RegisterIndex, Value>>& loaded);

    // --- translate_checks.cpp
    // `done`: where to go if no lane takes part.
    [[nodiscard]] std::optional<Access> resolve(const Instruction& instruction, std::uint32_t index,
                                                const Operand& place, llvm::BasicBlock* done);
    llvm::Value* all_in_range(llvm::Value* addresses, llvm::Value* first, llvm::Value* end,
                              std::uint64_t bytes, std::uint64_t alignment, llvm::Value* lanes);
    llvm::Value* in_range(llvm::Value* address, llvm::Value* first, llvm::Value* end, std::int64_t below,
                          std::uint64_t bytes);
    void find_range(Access& access);
    std::vector<llvm::Value*> hosts_of(const Access& access, bool is_in_runs);
    void check(Access& access, std::uint32_t index, bool is_store_in_runs);
    llvm::Value* is_good(const Access& access, std::int64_t low, std::int64_t high,
                         llvm::Value* more = nullptr);
    llvm::Value* splat_like(llvm::Value* like, llvm::Value* scalar);
    // All lanes of each run are at one place, or one `bytes` behind the other.
    [[nodiscard]] static bool lanes_in_order(const Shape& shape, unsigned run_lanes, unsigned bytes);

    // --- translate_stretches.cpp
    struct Row {  // of loads, or of stores, behind one register
        ptx::RegisterIndex reg = ptx::no_index;
        std::uint32_t first = 0;
        std::int64_t low = 0, high = 0;  // all lie within these bytes from the first's place
        // Additions that make its register of its hull's: the sum, and what is added.
        std::vector<std::pair<ptx::RegisterIndex, const Operand*>> added;
        llvm::Value* distance = nullptr;  // all of it
        std::vector<llvm::Value*> hosts;  // of the register's place: of lane 0, or of each run
        // Counted code: there is no sector between them that none of them touches; and the footprints have
        // all that they touch.
        bool is_dense = false;
        llvm::AllocaInst* is_inserted = nullptr;
    };
    struct Hull {  // rows that lie as far apart in all lanes: they are in range if what is around them is
        ptx::RegisterIndex reg = ptx::no_index;
        std::int64_t low = 0, high = 0;  // from each row's register
        std::vector<std::size_t> rows;
    };
    struct Stretch {
        std::uint32_t last = 0;
        std::vector<std::uint32_t> moved;  // what makes the registers of its rows: before all else
        std::vector<Hull> hulls;
    };
    void find_stretches();
    void find_stretch(std::uint32_t first, std::uint32_t end);
    [[nodiscard]] bool may_be_in_row(std::uint32_t index) const;
    [[nodiscard]] bool move_to(std::uint32_t first, std::uint32_t last, std::uint32_t index,
                               std::vector<std::uint32_t>& moved) const;
    void translate_stretch(std::uint32_t first, const Stretch& stretch);
    std::optional<ptx::RegisterIndex> find_root(std::uint32_t first, std::uint32_t last, std::uint32_t index,
                                                Row& row, std::vector<std::uint32_t>& moved) const;
    llvm::Value* check_hull(const Hull& hull, Access& access);

    // --- translate_groups.cpp
    struct LoadGroup {
        std::uint32_t first = 0;               // the instruction that loads for all
        std::int64_t below = 0;                // of its place: where the group begins
        llvm::AllocaInst* is_valid = nullptr;  // it has done so
        std::vector<llvm::AllocaInst*> values;
    };
    void find_groups();
    [[nodiscard]] bool may_be_grouped(std::uint32_t index) const;
    void write_loaded(std::uint32_t index, llvm::Value* value);
    // If the load is its group's first: loads for all where that is good, and goes to `done`; else goes on.
    void load_group(const Access& access, std::uint32_t index, llvm::BasicBlock* done);
    // If another one has loaded for it: takes the value, and goes to `done`; else goes on.
    void take_from_group(std::uint32_t index, llvm::BasicBlock* done);

    // --- translate_counts.cpp: counted code
    llvm::Value* count_place(std::size_t offset, std::uint64_t at);
    void add_to(llvm::Value* place, llvm::Value* amount);
    void count_slot(std::uint32_t slot, llvm::Value* threads);
    // The region that begins at the instruction.
    void count_region(std::uint32_t index);
    // An instruction under a guard that holds for `lanes`.
    void count_guarded(std::uint32_t index, llvm::Value* lanes);
    void call_service(std::size_t offset, llvm::ArrayRef<llvm::Value*> arguments);
    void add_to_count(const Op* op, std::size_t field_offset, llvm::Value* amount);  // of InstructionCount
    void set_active();

    // --- translate_requests.cpp: counted code
    struct Span {
        llvm::Value* first = nullptr;
        std::uint64_t bytes = 0;
    };
    // A memory request that is known to be good.
    void count_access(const Access& access, std::uint32_t index);
    std::vector<Span> spans_of(const Access& access, bool is_load);
    void count_spans(const Access& access, const std::vector<Span>& spans, std::uint32_t index,
                     llvm::BasicBlock* otherwise);
    void insert_window(llvm::Value* window, llvm::Value* bits);
    struct Piece {  // of memory: `last` is its last byte
        llvm::Value *first = nullptr, *last = nullptr;
    };
    void insert_pieces(const std::vector<Piece>& pieces, bool is_one_sector);
    void insert_of_row(Row& row, std::uint32_t index, const std::vector<Piece>& pieces, bool is_one_sector);
    void call_for_spans(const Access& access, const std::vector<Span>& spans, llvm::Value* op);
    void call_for_lanes(const Access& access, llvm::Value* op);
    void count_far_load(const Access& access, std::uint32_t place, llvm::Value* op);
    void count_shared_access(const Access& access, std::uint64_t passes);
    void store_address(unsigned lane, llvm::Value* address);
    void store_addresses(const Access& access);

    llvm::LLVMContext& context_;
    llvm::Module& module_;
    llvm::IRBuilder<> b_;
    const FunctionCode& code_;
    const ptx::Function& function_;
    ptx::ControlFlow flow_;
    const LanePatterns& lane_patterns_;
    const bool is_kernel_, is_counted_, has_gather_;
    std::optional<ptx::Liveness> liveness_;
    std::optional<Shapes> shapes_;
    std::optional<RunHints> hints_;
    std::optional<OpenNans> open_nans_;
    const WarpLayout layout_;
    llvm::Function* made_ = nullptr;
    llvm::Value* warp_ = nullptr;
    llvm::Value* ops_ = nullptr;        // the function's first op
    llvm::Value* registers_ = nullptr;  // of the frame
    llvm::Value* lanes_ = nullptr;      // i32: of the path
    llvm::Value* first_lane_ = nullptr;
    llvm::Value* path_threads_ = nullptr;  // i64: how many
    llvm::AllocaInst* executed_ = nullptr;
    llvm::SwitchInst* entry_switch_ = nullptr;
    llvm::BasicBlock* start_ = nullptr;     // before the first instruction
    std::vector<llvm::AllocaInst*> slots_;  // by register; nullptr: only the interpreter knows it
    std::optional<RegisterRoom> room_;      // large functions: `slots_` lie there
    bool may_be_large_ = true;
    std::vector<bool> is_entry_point_;             // by instruction
    std::vector<llvm::BasicBlock*> block_starts_;  // by basic block: its body
    std::vector<llvm::BasicBlock*> block_ways_;    // by basic block: before its body, where lanes may join
    std::vector<std::uint32_t> order_;             // by basic block: its place in reverse post-order
    std::map<std::uint32_t, llvm::BasicBlock*> exits_;
    std::vector<LoadGroup> groups_;
    std::map<std::uint32_t, std::pair<std::size_t, std::size_t>> group_of_;  // by instruction: group, value
    std::map<std::uint32_t, Stretch> stretches_;                             // by first instruction
    std::vector<Row> rows_;
    std::map<std::uint32_t, std::size_t> row_of_;  // by instruction
    bool is_checked_ = false;                      // what is made is where a stretch's rows are good
    std::uint32_t leaves_before_ = ptx::no_index;  // instead of before what is moved
    llvm::MDNode* likely_ = nullptr;
};

}  // namespace trimtab::emulator::jit
