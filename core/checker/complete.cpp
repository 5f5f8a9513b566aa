// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/checker/complete.h"

#include <algorithm>

#include "core/checker/first_thread.h"
#include "core/checker/iteration_sums.h"
#include "core/checker/reading.h"
#include "core/ptx/opcodes.h"

namespace trimtab::checker {
namespace {

using ptx::no_index;
using ptx::ValueIndex;

void write_phis(Certificate& certificate) {
    if (certificate.loops.empty() && certificate.rows.empty()) return;
    const auto first = Reading::make(certificate);
    if (!first) return;
    for (auto* loops : {&certificate.loops, &certificate.rows})
        for (StridedLoop& loop : *loops)
            for (const ValueIndex phi : first->phis(loop.header))
                if (first->own(phi).width > 1) loop.phis.push_back(phi);
    for (bool changed = true; changed;) {
        changed = false;
        auto reading = Reading::make(certificate);
        std::size_t l = 0;
        for (auto* loops : {&certificate.loops, &certificate.rows})
            for (StridedLoop& loop : *loops) {
                changed |= std::erase_if(loop.phis, [&](ValueIndex phi) {
                               return !reading->follows_index(l, phi);
                           }) != 0;
                l++;
            }
    }
}

void write_labels(Certificate& certificate, const Reading& reading) {
    certificate.labels.assign(reading.ssa().values.size(), 0);
    for (bool changed = true; changed;) {
        changed = false;
        for (ValueIndex v = 0; v < certificate.labels.size(); v++) {
            const auto needed = static_cast<Labels>(certificate.labels[v] | reading.required(v));
            changed |= needed != certificate.labels[v];
            certificate.labels[v] = needed;
        }
    }
}

// What depends on no more than it does without an exchange is agreed on by none.
void drop_agreements(Certificate& certificate) {
    if (certificate.exchanges.empty()) return;
    Certificate without = certificate;
    for (Exchange& exchange : without.exchanges) exchange.agreed.clear();
    const auto reading = Reading::make(without);
    if (!reading) return;
    write_labels(without, *reading);
    for (Exchange& exchange : certificate.exchanges)
        std::erase_if(exchange.agreed, [&](const Exchange::Agreed& agreed) {
            return (without.labels[agreed.value] & (all_shapes | others)) == 0;
        });
}

void write_first_threads(Certificate& certificate, const Reading& reading) {
    for (ptx::BlockIndex block = 0; block < reading.flow().blocks.size(); block++)
        for (const bool if_taken : {false, true})
            for (std::uint8_t d = 0; d < 3; d++) {
                const FirstThread first{block, if_taken, d};
                if (certificate.dimensions[d].is_strided() && reading.is_reachable(block) &&
                    goes_first(reading, first))
                    certificate.first_threads.push_back(first);
            }
}

// All that the sum is made of, less what is no sum.
void write_sum(Certificate& certificate, const Reading& reading, std::uint32_t i) {
    const ptx::Instruction& made = reading.function().body[i];
    if (made.operands.size() != made.destination_count + 2U) return;
    IterationSum sum{i, {}};
    std::vector<bool> seen(reading.ssa().values.size());
    std::vector<ValueIndex> work{
        reading.ssa().use(i, static_cast<std::uint16_t>(made.destination_count + 1))};
    while (!work.empty()) {
        const ValueIndex at = work.back();
        work.pop_back();
        if (at == no_index || seen[at]) continue;
        seen[at] = true;
        sum.values.push_back(at);
        const ptx::Value& value = reading.ssa().values[at];
        work.insert(work.end(), value.incoming.begin(), value.incoming.end());
        work.push_back(value.previous);
        if (value.kind == ptx::Value::Kind::instruction &&
            ptx::is_pure(reading.function().body[value.instruction].opcode))
            for (const ptx::Ssa::Use& use : reading.ssa().uses[value.instruction]) work.push_back(use.value);
    }
    sum = with_sums_only(reading, std::move(sum));
    if (is_iteration_sum(reading, sum)) certificate.sums.push_back(std::move(sum));
}

}  // namespace

void complete(Certificate& certificate) {
    drop_agreements(certificate);
    write_phis(certificate);
    const auto reading = Reading::make(certificate);
    if (!reading) return;
    write_first_threads(certificate, *reading);
    write_labels(certificate, *reading);
    if (certificate.loops.empty()) return;
    for (std::uint32_t i = 0; i < reading->function().body.size(); i++) {
        const ptx::BlockIndex block = reading->flow().block_of[i];
        const bool is_outside = reading->home(0, block) == no_index && reading->home(1, block) == no_index &&
                                reading->home(2, block) == no_index;
        if (is_outside &&
            ptx::info(reading->function().body[i].opcode).opcode_class == ptx::OpcodeClass::atomic)
            write_sum(certificate, *reading, i);
    }
}

}  // namespace trimtab::checker
