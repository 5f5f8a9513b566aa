// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comma-separated values as RFC 4180 has them, with the place of each field.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::advice {

struct CsvField {
    std::string text;
    std::uint32_t line = 0, column = 0;  // where it begins, from 1
};
using CsvRecord = std::vector<CsvField>;

// A record after the other. Lines that begin with "==" between records (`==PROF== ...`), and empty ones, are passed over.
class CsvReader {
  public:
    // `first_line`: the number of the text's first line in its file.
    CsvReader(std::string_view text, std::string origin, std::uint32_t first_line = 1)
        : text_(text), origin_(std::move(origin)), line_(first_line) {}

    // Nothing at the end. The error names the place of the field that does not end, or goes on after its quote.
    [[nodiscard]] std::expected<std::optional<CsvRecord>, Error> next();

  private:
    [[nodiscard]] bool at_end() const { return place_ >= text_.size(); }
    [[nodiscard]] bool at_line_end() const {
        return at_end() || text_[place_] == '\n' || text_[place_] == '\r';
    }
    void step();
    void step_line();
    [[nodiscard]] std::expected<CsvField, Error> field();
    [[nodiscard]] std::expected<void, Error> quoted(CsvField& field);

    std::string_view text_;
    std::string origin_;
    std::size_t place_ = 0;
    std::uint32_t line_ = 1, column_ = 1;
};

}  // namespace trimtab::advice
