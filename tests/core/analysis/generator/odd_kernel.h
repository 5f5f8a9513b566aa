// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws the text of a kernel that is as it should be, or that has a place or two where it is not: both with the
// same chance. Nothing notes which it is, for the bytes that launches leave tell.
#pragma once

#include <initializer_list>
#include <string>

#include "generator/kernel_text.h"

namespace trimtab::analysis::test {

class OddKernel {
  protected:
    explicit OddKernel(Draw& draw) : draw_(draw), oddities_(draw.chance(50) ? 0 : 1 + draw.below(2)) {}

    // Is this a place where it is not as it should be? There are as many as the kernel was given.
    bool odd(unsigned percent) {
        if (oddities_ == 0 || !draw_.chance(percent)) return false;
        oddities_--;
        return true;
    }
    bool chance(unsigned percent) { return draw_.chance(percent); }
    unsigned below(unsigned n) { return draw_.below(n); }
    std::string any(std::initializer_list<std::string> texts) {
        return *(texts.begin() + draw_.below(texts.size()));
    }
    std::string barrier() { return odd(12) ? "" : "  BARRIER;\n"; }

  private:
    Draw& draw_;
    unsigned oddities_ = 0;
};

}  // namespace trimtab::analysis::test
