// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the body of a kernel: registers, arithmetic over what is in scope, memory.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "generator/kernel_text.h"

namespace trimtab::analysis::test {

class PtxWriter {
  public:
    explicit PtxWriter(Draw& draw) : draw_(draw) {}

    // --- names
    std::string word() { return fmt::format("%r{}", words_++); }
    std::string wide() { return fmt::format("%rd{}", wides_++); }
    std::string truth() { return fmt::format("%p{}", truths_++); }
    std::string label() { return fmt::format("$L{}", labels_++); }

    // --- lines
    template <class... Values>
    void put(fmt::format_string<Values...> format, Values&&... values) {
        lines_.push_back("\t" + fmt::format(format, std::forward<Values>(values)...));
    }
    void here(const std::string& label) { lines_.push_back(label + ":"); }

    // --- parameters, loaded where the kernel begins
    std::string pointer();
    std::string size();       // a word
    std::string wide_size();  // 64 bits

    // --- values of words, computed from what is in scope
    std::vector<std::string>& scope() { return scope_; }
    std::string value(unsigned depth);
    // A wide value of words that are in scope.
    std::string wide_value(unsigned depth);
    std::string compared(unsigned depth);  // a predicate
    // What depends on the block; it goes into one of the next values.
    void leak(const std::string& word) { leak_ = word; }

    // --- memory
    // base + 4 * index, an address
    std::string element(const std::string& base, const std::string& index, bool is_signed = true);
    std::string loaded(const std::string& base, const std::string& index, bool read_only);
    void store(const std::string& base, const std::string& index, const std::string& value);
    std::string through_stack(const std::string& value);
    std::string through_call(const std::string& value);

    [[nodiscard]] KernelText kernel() const;
    Draw& draw() { return draw_; }
    // Lines in front of the kernel: shared arrays, functions.
    std::vector<std::string> before;

  private:
    std::string binary(unsigned depth);
    std::string odd(unsigned depth);
    std::string carried(unsigned depth);

    Draw& draw_;
    std::vector<std::string> lines_, scope_, parameters_;
    std::string leak_;
    unsigned words_ = 1, wides_ = 1, truths_ = 1, labels_ = 1;
    bool has_stack_ = false, has_function_ = false;
};

}  // namespace trimtab::analysis::test
