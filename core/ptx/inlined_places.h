// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where inlined code stands in its user's source. A .loc names the place that the instruction comes from,
// which may be in a header of the compiler's own, and the calls by which it got there: nvcc as attributes,
// clang in the comment behind it (in PTX files: the fat binary drops comments, so that the plugin has moved the places
// of what trimtab++ compiles, pass/user_places.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/ptx/module.h"

namespace trimtab::ptx {

class InlinedPlaces {
  public:
    void start_function() { calls_.clear(); }
    // Of a .loc: what its instructions have until resolve(). `comment`: what follows on its line.
    [[nodiscard]] SourceLocation note(const SourceLocation& own, std::optional<SourceLocation> inlined_at,
                                      std::string_view comment);
    // Once the files are known: each instruction is where its code stands in a user's file, the innermost
    // such call or, if there is none, where it was.
    void resolve(Module& module) const;

  private:
    struct Place {
        SourceLocation location;
        std::string_view file;  // where location.file is 0
    };
    using Chain = std::vector<Place>;  // the innermost first
    [[nodiscard]] SourceLocation user_place(const Chain& chain, Module& module) const;

    static constexpr std::uint32_t is_chain =
        0x80000000u;  // in SourceLocation::file, with a place in chains_
    std::vector<Chain> chains_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, SourceLocation> calls_;
};

}  // namespace trimtab::ptx
