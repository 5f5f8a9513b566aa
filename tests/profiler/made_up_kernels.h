// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel descriptions written by hand.
#pragma once

#include "core/analysis/launches/description.h"

namespace trimtab::profiler::testing {

using analysis::DataParameter;
using analysis::Dimension;
using analysis::Expression;
using analysis::KernelDescription;

inline Expression index(Dimension dimension) {
    Expression e;
    e.kind = Expression::Kind::global_index;
    e.type = ptx::Type::s32;
    e.dimension = dimension;
    return e;
}
inline Expression argument(std::uint32_t parameter) {
    Expression e;
    e.kind = Expression::Kind::parameter;
    e.type = ptx::Type::s32;
    e.parameter = parameter;
    return e;
}
inline Expression constant(std::uint64_t bits) {
    Expression e;
    e.type = ptx::Type::s32;
    e.bits = bits;
    return e;
}
inline Expression operation(const char* text, std::vector<Expression> arguments) {
    return analysis::applied(analysis::decode_operation(text).value(), std::move(arguments));
}

class KernelBuilder {
  public:
    KernelBuilder(const char* name, std::array<bool, 3> dimensions) {
        d_.id = "00000000000000k1";
        d_.name = name;
        for (std::size_t d = 0; d < 3; ++d)
            if (dimensions[d]) d_.dimensions[d].index = analysis::Index::global;
        d_.verdict = analysis::Verdict::covering;
        d_.images = {{.architecture = "sm_75", .registers = 32, .registers_from = {}}};
    }
    KernelBuilder& pointer(const char* name, const char* pointee) {
        add(name, 8, "u64");
        d_.parameters.back().is_pointer = true;
        d_.parameters.back().pointee = pointee;
        return *this;
    }
    // An s32 that is in D.
    KernelBuilder& integer(const char* name, bool in_memo = true) { return scalar(name, "s32", 4, in_memo); }
    KernelBuilder& scalar(const char* name, const char* type, std::uint32_t size, bool in_memo = true) {
        add(name, size, type);
        d_.data.push_back({.name = name,
                           .parameter = d_.parameters.back().index,
                           .type = type,
                           .in_memo = in_memo,
                           .bounds = {}});
        return *this;
    }
    // The index of `dimension` exits from `limit` on.
    KernelBuilder& guard(Dimension dimension, Expression limit) {
        d_.guards.push_back({.dimension = dimension,
                             .exits = operation("setp.ge.s32", {index(dimension), std::move(limit)}),
                             .source = {}});
        return *this;
    }
    // And below `least`.
    KernelBuilder& guard_below(Dimension dimension, Expression least) {
        d_.guards.push_back({.dimension = dimension,
                             .exits = operation("setp.lt.s32", {index(dimension), std::move(least)}),
                             .source = {}});
        return *this;
    }
    KernelDescription build() {
        for (std::size_t d = 0; d < 3; ++d)
            if (d_.reads(d))
                d_.data.push_back({.name = std::string("extent.") + "xyz"[d],
                                   .is_extent = true,
                                   .dimension = static_cast<Dimension>(d),
                                   .type = "u32",
                                   .bounds = {}});
        return d_;
    }

  private:
    void add(const char* name, std::uint32_t size, const char* type) {
        offset_ = (offset_ + size - 1) / size * size;
        d_.parameters.push_back({.index = static_cast<std::uint32_t>(d_.parameters.size()),
                                 .name = name,
                                 .offset = offset_,
                                 .size = size,
                                 .type = type,
                                 .ptx_type = type,
                                 .pointee = {}});
        offset_ += size;
    }
    KernelDescription d_;
    std::uint32_t offset_ = 0;
};

// C (NI x NJ) = A (NI x NK) B: j = x < NJ, i = y < NI.
inline KernelDescription gemm() {
    return KernelBuilder("gemm", {true, true, false})
        .pointer("a", "float")
        .pointer("b", "float")
        .pointer("c", "float")
        .integer("NI")
        .integer("NJ")
        .integer("NK")
        .guard(Dimension::x, argument(4))
        .guard(Dimension::y, argument(3))
        .build();
}

}  // namespace trimtab::profiler::testing
