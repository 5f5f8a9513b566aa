// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/analysis/proof/proof.h"

#include "core/analysis/proof/prover.h"

namespace trimtab::analysis {
namespace {

// Is there something in the kernel that the assumption could make a difference to?
bool applies(const LaunchAssumption& assumed, const LaunchReads& reads, Sharing sharing) {
    // All threads of a block are those of x.
    if (sharing == Sharing::of_blocks) {
        if (assumed.of[0] != Assumed::grid_stays) return false;
        for (const std::size_t d : {1, 2})
            if (assumed.of[d] == Assumed::grid_stays ||
                (assumed.of[d] == Assumed::nothing && (reads.thread_index[d] || reads.block_size[d])))
                return false;
    }
    if ((sharing == Sharing::tables || sharing == Sharing::sums) && assumed.any(Assumed::grid_stays))
        return false;
    bool narrows = !assumed.any(Assumed::one_thread);
    for (std::size_t d = 0; d < 3; d++) {
        narrows |= assumed.of[d] == Assumed::one_thread && reads.reads(d);
        const bool needs_block =
            assumed.of[d] == Assumed::grid_stays || assumed.of[d] == Assumed::whole_warps;
        if (needs_block && !(reads.thread_index[d] && reads.block_size[d])) return false;
    }
    return narrows;
}

// The first proof that stands, of assumptions with warps as units or of those without; else the one that
// takes the least for granted. Nothing: no such assumption makes a difference.
std::optional<Proof> attempt(SymbolTable& table, const Code& code, bool of_warps, Sharing sharing,
                             bool may_reassociate = false) {
    const LaunchReads reads = launch_reads(code.reachable, {});
    std::optional<Proof> first;
    std::vector<Reason> near_misses;
    for (const LaunchAssumption& assumed : launch_assumptions()) {
        if (assumed.any(Assumed::whole_warps) != of_warps || !applies(assumed, reads, sharing)) continue;
        LaunchAssumption taken = assumed;
        taken.blocks_are_units = sharing == Sharing::of_blocks;
        taken.may_reassociate = may_reassociate;
        Proof proof = try_proof(table, code, taken, sharing);
        if (proof.verdict != Verdict::fixed) return proof;
        if (near_misses.empty()) near_misses = std::move(proof.near_misses);
        if (!first) first = std::move(proof);
        // It is the use of indices that other assumptions help with.
        if (first->obstacles.warps || first->obstacles.others) {
            if (sharing == Sharing::tables) first->near_misses = std::move(near_misses);
            return first;
        }
    }
    if (first) {
        first->reasons.insert(first->reasons.end(), near_misses.begin(), near_misses.end());
        first->near_misses = std::move(near_misses);
    }
    return first;
}

// Several tries may have met the same obstacle.
void leave_out_repeats(std::vector<Reason>& reasons) {
    std::vector<Reason> once;
    for (Reason& reason : reasons)
        if (std::ranges::none_of(once, [&](const Reason& said) {
                return said.source == reason.source && said.text == reason.text;
            }))
            once.push_back(std::move(reason));
    reasons = std::move(once);
}

Proof prove_exactly(SymbolTable& table, const Code& code) {
    Proof proof = *attempt(table, code, false, Sharing::nothing);
    const auto stands = [](const std::optional<Proof>& tried) {
        return tried && tried->verdict != Verdict::fixed;
    };
    if (proof.verdict != Verdict::fixed) return proof;
    if (proof.obstacles.warps || proof.obstacles.others)
        if (auto with_private = attempt(table, code, false, Sharing::own_slots); stands(with_private))
            return std::move(*with_private);
    std::optional<Reason> shared_miss;
    for (const bool of_warps : {false, true}) {
        if (!proof.obstacles.others) break;
        auto with_tables = attempt(table, code, of_warps, Sharing::tables);
        if (stands(with_tables)) return std::move(*with_tables);
        if (with_tables && !shared_miss) shared_miss = std::move(with_tables->shared_miss);
        if (!with_tables || !proof.near_misses.empty()) continue;
        proof.near_misses = std::move(with_tables->near_misses);
        proof.reasons.insert(proof.reasons.end(), proof.near_misses.begin(), proof.near_misses.end());
    }
    // Sums of a launch: where any number of threads adds up to the same.
    std::optional<Proof> sums;
    if (proof.obstacles.warps || proof.obstacles.others) sums = attempt(table, code, false, Sharing::sums);
    if (sums && sums->verdict == Verdict::covering) return std::move(*sums);
    if (sums && sums->shared_miss) shared_miss = std::move(sums->shared_miss);
    if (!proof.obstacles.others)
        if (auto of_warps = attempt(table, code, true, Sharing::nothing); stands(of_warps))
            return std::move(*of_warps);
    if (auto of_blocks = attempt(table, code, false, Sharing::of_blocks)) {
        if (stands(of_blocks)) return std::move(*of_blocks);
        // How near it came.
        if (proof.near_misses.empty())
            proof.reasons.insert(proof.reasons.end(), of_blocks->near_misses.begin(),
                                 of_blocks->near_misses.end());
    }
    if (stands(sums)) return std::move(*sums);
    if (shared_miss) proof.reasons.push_back(std::move(*shared_miss));
    leave_out_repeats(proof.reasons);
    return proof;
}

// The same with floating-point sums as equal in any order. Nothing: that makes no better verdict.
std::optional<Proof> prove_reassociated(SymbolTable& table, const Code& code, Verdict exact) {
    for (const Sharing sharing : {Sharing::nothing, Sharing::tables, Sharing::sums, Sharing::of_blocks}) {
        auto tried = attempt(table, code, false, sharing, true);
        if (!tried || tried->verdict >= exact) continue;
        tried->reassociates = true;
        return tried;
    }
    return std::nullopt;
}

}  // namespace

Proof prove(SymbolTable& table, const ptx::Module& module, const ptx::Function& kernel,
            bool may_reassociate) {
    const Code code(module, kernel);
    Proof proof = prove_exactly(table, code);
    if (may_reassociate && proof.verdict != Verdict::covering)
        if (auto better = prove_reassociated(table, code, proof.verdict)) return std::move(*better);
    return proof;
}

}  // namespace trimtab::analysis
