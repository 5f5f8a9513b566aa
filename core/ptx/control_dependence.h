// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which branches decide whether a block is reached (Ferrante, Ottenstein and Warren, "The Program Dependence
// Graph and Its Use in Optimization", 1987).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/ptx/control_flow.h"
#include "core/ptx/module.h"

namespace trimtab::ptx {

// Ways out of a block's branch: `taken` leads to its target or, of a guarded ret or exit, out of the
// function.
enum Way : std::uint8_t { taken = 1, falls_through = 2, one_of_many = 4 };

class ControlDependence {
  public:
    ControlDependence(const Function& function, const ControlFlow& flow);

    // By block with a branch that decides, however indirectly, whether `block` is reached: by which of its
    // ways (a mask of Way).
    [[nodiscard]] std::map<BlockIndex, std::uint8_t> deciding(BlockIndex block) const;

  private:
    struct Edge {
        BlockIndex branch = 0;
        std::uint8_t way = 0;
    };
    std::vector<std::vector<Edge>> direct_;  // by block
};

}  // namespace trimtab::ptx
