// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/advice/counters/csv.h"

#include <utility>

namespace trimtab::advice {

void CsvReader::step() {
    if (text_[place_] == '\n') {
        ++line_;
        column_ = 1;
    } else {
        ++column_;
    }
    ++place_;
}

// Past the end of the line.
void CsvReader::step_line() {
    while (!at_end() && text_[place_] != '\n') step();
    if (!at_end()) step();
}

// The opening quote has been passed.
std::expected<void, Error> CsvReader::quoted(CsvField& field) {
    for (;;) {
        if (at_end())
            return std::unexpected(Error{.message = "the quote that begins this field has no end",
                                         .file = origin_,
                                         .line = field.line,
                                         .column = field.column});
        const char c = text_[place_];
        step();
        if (c != '"') {
            field.text += c;
        } else if (!at_end() && text_[place_] == '"') {
            field.text += '"';
            step();
        } else {
            break;
        }
    }
    if (!at_line_end() && text_[place_] != ',')
        return std::unexpected(Error{.message = "a comma or the end of the line must follow a closing quote",
                                     .file = origin_,
                                     .line = line_,
                                     .column = column_});
    return {};
}

std::expected<CsvField, Error> CsvReader::field() {
    CsvField field{.text = {}, .line = line_, .column = column_};
    if (!at_end() && text_[place_] == '"') {
        step();
        if (auto read = quoted(field); !read) return std::unexpected(read.error());
        return field;
    }
    while (!at_line_end() && text_[place_] != ',') {
        field.text += text_[place_];
        step();
    }
    return field;
}

std::expected<std::optional<CsvRecord>, Error> CsvReader::next() {
    while (!at_end() && (at_line_end() || text_.substr(place_).starts_with("=="))) step_line();
    if (at_end()) return std::nullopt;
    CsvRecord record;
    for (;;) {
        auto read = field();
        if (!read) return std::unexpected(read.error());
        record.push_back(std::move(*read));
        if (at_line_end()) break;
        step();  // the comma
    }
    if (!at_end()) step_line();
    return record;
}

}  // namespace trimtab::advice
