// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Certificates of the corpus' kernels, of which something is changed, do not stand.
#include <gtest/gtest.h>

#include <functional>
#include <list>
#include <map>
#include <set>

#include "core/analysis/proof/certify.h"
#include "core/checker/check.h"
#include "core/checker/reading.h"
#include "tests/core/analysis/cuda_compiler.h"

namespace trimtab::checker {
namespace {

struct Proved {
    std::string name;
    std::vector<Certificate> certificates;
};

// Of a file; what it keeps is read for the test's whole life.
struct Kept {
    ptx::Module module;
    std::list<analysis::Proof> proofs;
    std::list<Proved> proved;
};

// The kernels of the corpus that may have other blocks. That all of them stand up to the check is the corpus' own
// test: their verdicts would be other ones.
const std::list<Kept>& kernels() {
    static std::list<Kept> known;
    if (!known.empty()) return known;
    for (const char* name : {"legal", "strides_legal", "block_strides_legal", "warps_legal", "blocks_legal",
                             "sums_legal", "tables_legal"}) {
        const std::string file =
            std::string(TRIMTAB_SOURCE_DIR) + "/tests/core/analysis/corpus/" + name + ".cu";
        auto module = ptx::parse(analysis::test::compile_cuda_file(file, "-O3"), file);
        if (!module) {
            ADD_FAILURE() << module.error().text();
            continue;
        }
        Kept& kept = known.emplace_back();
        kept.module = std::move(*module);
        for (const ptx::Function* kernel : kept.module.kernels()) {
            analysis::SymbolTable table;
            const bool sums = std::string(name).starts_with("sums");
            analysis::Proof proof = analysis::prove(table, kept.module, *kernel, sums);
            if (proof.verdict == analysis::Verdict::fixed) continue;
            kept.proofs.push_back(std::move(proof));
            kept.proved.push_back(
                {name + (" " + kernel->name), analysis::certificates(kept.proofs.back(), *kernel)});
        }
    }
    return known;
}
void for_each_proof(const std::function<void(const Proved&)>& visit) {
    for (const Kept& kept : kernels())
        for (const Proved& proved : kept.proved) visit(proved);
}

// Every value, every source of its label.
TEST(ChangedCertificates, WithOneLabelLowered) {
    std::set<std::string> kernels;
    unsigned lowered = 0;
    for_each_proof([&](const Proved& proved) {
        Certificate certificate = proved.certificates.front();
        // All of the smaller ones; of each value all sources.
        if (certificate.function->body.size() > 40) return;
        for (ptx::ValueIndex v = 0; v < certificate.labels.size(); v++)
            for (Labels source = 1; source != 0; source = static_cast<Labels>(source << 1)) {
                if ((certificate.labels[v] & source) == 0) continue;
                certificate.labels[v] ^= source;
                const auto objection = check(certificate);
                EXPECT_TRUE(objection) << proved.name << ": value " << v << " without " << source;
                certificate.labels[v] ^= source;
                lowered++;
            }
        kernels.insert(proved.name);
    });
    EXPECT_GE(kernels.size(), 100U);
    EXPECT_GE(lowered, 1000U);
}

// Each thing that the certificate claims is left out, and the labels are what they were.
TEST(ChangedCertificates, WithADischargeLeftOut) {
    std::map<std::string, unsigned> needed, kernels;
    for_each_proof([&](const Proved& proved) {
        const Certificate& whole = proved.certificates.front();
        const auto without = [&](const std::string& what, auto list, auto must_be_needed) {
            const std::size_t count = (whole.*list).size();
            unsigned found = 0;
            for (std::size_t i = 0; i < count; i++) {
                Certificate less = whole;
                (less.*list).erase((less.*list).begin() + static_cast<std::ptrdiff_t>(i));
                const bool is_rejected = check(less).has_value();
                found += is_rejected ? 1 : 0;
                if (must_be_needed)
                    EXPECT_TRUE(is_rejected) << proved.name << ": " << what << " " << i << " left out";
            }
            needed[what] += found;
            kernels[what] += count > 0 ? 1 : 0;
        };
        without("loop", &Certificate::loops, true);
        without("sum", &Certificate::sums, true);
        without("exchange", &Certificate::exchanges, false);
        without("first thread", &Certificate::first_threads, false);
        for (std::size_t l = 0; l < whole.loops.size(); l++) {
            for (std::size_t p = 0; p < whole.loops[l].phis.size(); p++) {
                Certificate less = whole;
                less.loops[l].phis.erase(less.loops[l].phis.begin() + static_cast<std::ptrdiff_t>(p));
                EXPECT_TRUE(check(less)) << proved.name << ": phi " << p << " left out";
            }
            for (std::size_t e = 0; e < whole.loops[l].exits.size() && whole.loops[l].exits.size() == 1;
                 e++) {
                Certificate less = whole;
                less.loops[l].exits.clear();
                EXPECT_TRUE(check(less)) << proved.name << ": no bound";
            }
        }
        for (std::size_t e = 0; e < whole.exchanges.size(); e++) {
            Certificate less = whole;
            less.exchanges[e].agreed.clear();
            needed["agreement"] += check(less) ? 1 : 0;
            kernels["agreement"]++;
        }
    });
    for (const auto& [what, least] : std::map<std::string, unsigned>{
             {"loop", 100}, {"sum", 12}, {"exchange", 20}, {"first thread", 8}, {"agreement", 20}})
        EXPECT_GE(needed[what], least) << what << " of " << kernels[what] << " kernels";
}

// The index that a test is of, as one more than it is.
void move_index(Expression& expression) {
    for (Expression& argument : expression.arguments) move_index(argument);
    if (expression.kind != Expression::Kind::index) return;
    Expression one, sum;
    one.type = expression.type;
    one.bits = 1;
    sum.kind = Expression::Kind::operation;
    sum.type = expression.type;
    sum.operation.opcode = ptx::Opcode::add;
    sum.operation.type = expression.type;
    sum.arguments = {expression, one};
    expression = sum;
}
Expression negated(const Expression& expression) {
    Expression result;
    result.kind = Expression::Kind::operation;
    result.type = ptx::Type::pred;
    result.operation.opcode = ptx::Opcode::not_;
    result.operation.type = ptx::Type::pred;
    result.arguments = {expression};
    return result;
}

// Threads that have work to do are said to end: one index too many, those below the bound, all.
TEST(ChangedCertificates, WithAnotherTest) {
    unsigned guards = 0, bounds = 0, moved = 0;
    Expression always;
    always.type = ptx::Type::pred;
    always.bits = 1;
    for_each_proof([&](const Proved& proved) {
        const Certificate& whole = proved.certificates.front();
        // Each time all of them are checked.
        if (whole.guards.size() > 8) return;
        for (std::size_t g = 0; g < whole.guards.size(); g++) {
            Certificate changed = whole;
            changed.guards[g].exits = always;
            EXPECT_TRUE(check(changed)) << proved.name << ": all threads end by guard " << g;
            changed.guards[g].exits = negated(whole.guards[g].exits);
            EXPECT_TRUE(check(changed)) << proved.name << ": guard " << g << " the other way";
            changed.guards[g].exits = whole.guards[g].exits;
            guards++;
            // Where there are several, one index more may be another one's.
            if (whole.guards.size() > 1) continue;
            move_index(changed.guards[g].exits);
            EXPECT_TRUE(check(changed)) << proved.name << ": one index more by guard " << g;
            moved++;
        }
        for (std::size_t l = 0; l < whole.loops.size(); l++)
            for (std::size_t e = 0; e < whole.loops[l].exits.size(); e++) {
                if (whole.loops[l].exits.size() != 1) continue;
                Certificate changed = whole;
                move_index(changed.loops[l].exits[e]);
                EXPECT_TRUE(check(changed)) << proved.name << ": a bound of loop " << l;
                bounds++;
            }
    });
    EXPECT_GE(guards, 60U);
    EXPECT_GE(bounds, 100U);
    EXPECT_GE(moved, 40U);
}

// Launches may do more to a dimension than is proved.
TEST(ChangedCertificates, WithMoreLaunches) {
    unsigned changed = 0;
    for_each_proof([&](const Proved& proved) {
        Certificate certificate = proved.certificates.front();
        for (DimensionRule& rule : certificate.dimensions) {
            if (rule.scheme != Scheme::in_block && !rule.has_whole_warps) continue;
            const DimensionRule before = rule;
            rule = {.scheme = Scheme::index};
            const auto objection = check(certificate);
            EXPECT_TRUE(objection) << proved.name;
            rule = before;
            changed++;
        }
    });
    EXPECT_GE(changed, 60U);
}

}  // namespace
}  // namespace trimtab::checker
