#include "emulator/exec/register_slots.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "emulator/exec/instruction_registers.h"

namespace trimtab::emulator {
namespace {

constexpr std::uint32_t many_blocks = ptx::no_index - 1;

// Where a register may hold a value that is still needed: instructions [first, last].
struct Life {
    std::uint32_t first = ptx::no_index, last = 0;
    void include(std::uint32_t instruction) {
        first = std::min(first, instruction);
        last = std::max(last, instruction);
    }
    [[nodiscard]] bool used() const { return first != ptx::no_index; }
};

class Liveness {
  public:
    Liveness(const ptx::Function& function, const ptx::ControlFlow& flow) : function_(function), flow_(flow) {
        lives_.resize(function.registers.size());
        find_shared();
        if (shared_count_ != 0) solve();
    }
    [[nodiscard]] const std::vector<Life>& lives() const { return lives_; }

  private:
    using Words = std::vector<std::uint64_t>;

    static bool get(const Words& words, std::uint32_t i) { return ((words[i / 64] >> (i % 64)) & 1) != 0; }
    static void set(Words& words, std::uint32_t i) { words[i / 64] |= std::uint64_t{1} << (i % 64); }

    // Registers that more than one block sees, or that a block reads before it writes them.
    void find_shared() {
        std::vector<std::uint32_t> block_of(lives_.size(), ptx::no_index);
        std::vector<std::uint32_t> written_in(lives_.size(), ptx::no_index);
        for (ptx::BlockIndex b = 0; b < flow_.blocks.size(); b++) {
            const auto see = [&](ptx::RegisterIndex reg, std::uint32_t i) {
                lives_[reg].include(i);
                if (block_of[reg] == ptx::no_index) block_of[reg] = b;
                if (block_of[reg] != b) block_of[reg] = many_blocks;
            };
            for (std::uint32_t i = flow_.blocks[b].first; i < flow_.blocks[b].last; i++) {
                const ptx::Instruction& instruction = function_.body[i];
                visit_reads(instruction, [&](ptx::RegisterIndex reg) {
                    see(reg, i);
                    if (written_in[reg] != b) block_of[reg] = many_blocks;
                });
                visit_writes(instruction, [&](ptx::RegisterIndex reg) {
                    see(reg, i);
                    // What is written under a guard alone keeps its old value elsewhere.
                    if (instruction.guard == ptx::no_index)
                        written_in[reg] = b;
                    else if (written_in[reg] != b)
                        block_of[reg] = many_blocks;
                });
            }
        }
        shared_.assign(lives_.size(), ptx::no_index);
        for (ptx::RegisterIndex reg = 0; reg < lives_.size(); reg++) {
            if (block_of[reg] == many_blocks) shared_[reg] = shared_count_++;
        }
    }

    // Backwards over blocks until nothing changes; then lives reach over every block in which they go on.
    void solve() {
        const std::size_t words = (shared_count_ + 63) / 64;
        std::vector<Words> used(flow_.blocks.size(), Words(words)), killed = used, in = used, out = used;
        for (ptx::BlockIndex b = 0; b < flow_.blocks.size(); b++) {
            for (std::uint32_t i = flow_.blocks[b].first; i < flow_.blocks[b].last; i++) {
                const ptx::Instruction& instruction = function_.body[i];
                const auto use = [&](ptx::RegisterIndex reg) {
                    if (shared_[reg] != ptx::no_index && !get(killed[b], shared_[reg]))
                        set(used[b], shared_[reg]);
                };
                visit_reads(instruction, use);
                visit_writes(instruction, [&](ptx::RegisterIndex reg) {
                    if (instruction.guard != ptx::no_index)
                        use(reg);
                    else if (shared_[reg] != ptx::no_index)
                        set(killed[b], shared_[reg]);
                });
            }
        }
        for (bool changed = true; changed;) {
            changed = false;
            for (auto at = flow_.reverse_post_order.rbegin(); at != flow_.reverse_post_order.rend(); ++at) {
                const ptx::BlockIndex b = *at;
                for (std::size_t word = 0; word < words; word++) {
                    std::uint64_t live = 0;
                    for (const ptx::BlockIndex next : flow_.blocks[b].successors) live |= in[next][word];
                    out[b][word] = live;
                    const std::uint64_t before = used[b][word] | (live & ~killed[b][word]);
                    changed = changed || before != in[b][word];
                    in[b][word] = before;
                }
            }
        }
        for (ptx::BlockIndex b = 0; b < flow_.blocks.size(); b++) {
            const ptx::BasicBlock& block = flow_.blocks[b];
            if (block.first == block.last) continue;
            for (ptx::RegisterIndex reg = 0; reg < lives_.size(); reg++) {
                if (shared_[reg] == ptx::no_index) continue;
                if (get(in[b], shared_[reg])) lives_[reg].include(block.first);
                if (get(out[b], shared_[reg])) lives_[reg].include(block.last - 1);
            }
        }
    }

    const ptx::Function& function_;
    const ptx::ControlFlow& flow_;
    std::vector<Life> lives_;
    std::vector<std::uint32_t> shared_;  // by register: its bit, or no_index
    std::uint32_t shared_count_ = 0;
};

}  // namespace

RegisterSlots assign_slots(const ptx::Function& function, const ptx::ControlFlow& flow,
                           std::uint32_t class_count,
                           const std::function<std::uint32_t(ptx::RegisterIndex)>& class_of) {
    const Liveness liveness(function, flow);
    const std::vector<Life>& lives = liveness.lives();
    RegisterSlots made;
    made.slot.assign(lives.size(), ptx::no_index);
    made.count.assign(class_count, 0);
    std::vector<ptx::RegisterIndex> order;
    for (ptx::RegisterIndex reg = 0; reg < lives.size(); reg++) {
        if (lives[reg].used()) order.push_back(reg);
    }
    std::sort(order.begin(), order.end(), [&lives](ptx::RegisterIndex a, ptx::RegisterIndex b) {
        return std::pair(lives[a].first, a) < std::pair(lives[b].first, b);
    });
    using Ending = std::pair<std::uint32_t, std::uint32_t>;  // last instruction, slot
    std::vector<std::priority_queue<Ending, std::vector<Ending>, std::greater<>>> taken(class_count);
    std::vector<std::vector<std::uint32_t>> free(class_count);
    for (const ptx::RegisterIndex reg : order) {
        const std::uint32_t own = class_of(reg);
        // An instruction's result never takes the place of its operands: some write before all is read.
        while (!taken[own].empty() && taken[own].top().first < lives[reg].first) {
            free[own].push_back(taken[own].top().second);
            taken[own].pop();
        }
        std::uint32_t slot = made.count[own];
        if (free[own].empty()) {
            made.count[own]++;
        } else {
            slot = free[own].back();
            free[own].pop_back();
        }
        made.slot[reg] = slot;
        taken[own].emplace(lives[reg].last, slot);
    }
    return made;
}

}  // namespace trimtab::emulator
