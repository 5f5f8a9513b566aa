// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small kernels in PTX, and certificates that are written by hand.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/checker/certificate.h"
#include "core/checker/check.h"
#include "core/checker/complete.h"
#include "core/ptx/module.h"

namespace trimtab::checker::test {

// A kernel k(u64 o, u64 p, u32 n) with registers %r, %rd and %p, and 128 bytes of shared memory, s.
class Kernel {
  public:
    explicit Kernel(const std::string& body) {
        auto module = ptx::parse(
            ".version 8.8\n.target sm_75\n.address_size 64\n"
            ".visible .entry k(.param .u64 o, .param .u64 p, .param .u32 n) {\n"
            ".reg .pred %p<30>; .reg .b32 %r<60>; .reg .b64 %rd<60>; .shared .align 4 .b8 s[128];\n" +
                body + "\n}\n",
            "k.ptx");
        EXPECT_TRUE(module) << module.error().text();
        module_ = std::move(*module);
        certificate.function = &module_.functions.front();
        flow_ = *ptx::control_flow(*certificate.function);
        ssa_ = ptx::build_ssa(*certificate.function, flow_);
    }

    [[nodiscard]] ptx::BlockIndex block(const std::string& label) const {
        return flow_.block_of.at(certificate.function->labels.at(label));
    }
    // What the register is set to last.
    [[nodiscard]] ptx::ValueIndex value(const std::string& name) const {
        ptx::ValueIndex found = ptx::no_index;
        for (ptx::ValueIndex v = 0; v < ssa_.values.size(); v++)
            if (ssa_.values[v].kind == ptx::Value::Kind::instruction &&
                certificate.function->registers[ssa_.values[v].reg].name == name)
                found = v;
        return found;
    }
    [[nodiscard]] std::uint32_t instruction_of(const std::string& name) const {
        return ssa_.values[value(name)].instruction;
    }
    // The loop at the label, until its index reaches n.
    void strides(const std::string& label, ptx::Comparison exits = ptx::Comparison::ge) {
        StridedLoop loop;
        loop.header = block(label);
        loop.exits.push_back(index_and_n(exits));
        certificate.loops.push_back(std::move(loop));
    }
    void guards(ptx::Comparison exits) { certificate.guards.push_back({0, index_and_n(exits)}); }

    // What stands in the way; "" if nothing does.
    [[nodiscard]] std::string objection() {
        complete(certificate);
        const auto found = check(certificate);
        return found ? found->text : std::string();
    }

    Certificate certificate;

  private:
    [[nodiscard]] static Expression index_and_n(ptx::Comparison comparison) {
        Expression index, n, result;
        index.kind = Expression::Kind::index;
        n.kind = Expression::Kind::parameter;
        n.offset = 16;
        index.type = n.type = ptx::Type::s32;
        result.kind = Expression::Kind::operation;
        result.type = ptx::Type::pred;
        result.operation.opcode = ptx::Opcode::setp;
        result.operation.type = ptx::Type::s32;
        result.operation.modifiers.comparison = comparison;
        result.arguments = {index, n};
        return result;
    }

    ptx::Module module_;
    ptx::ControlFlow flow_;
    ptx::Ssa ssa_;
};

// %r1: the global index; %r2: the total; %r3: n; %rd1, %rd2: o and p.
inline const std::string index_total_and_arguments = R"(
    mov.u32 %r50, %ctaid.x;
    mov.u32 %r51, %ntid.x;
    mov.u32 %r52, %tid.x;
    mov.u32 %r53, %nctaid.x;
    mad.lo.s32 %r1, %r50, %r51, %r52;
    mul.lo.s32 %r2, %r51, %r53;
    ld.param.u32 %r3, [n];
    ld.param.u64 %rd1, [o];
    ld.param.u64 %rd2, [p];
)";

}  // namespace trimtab::checker::test
