// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the checks found: one report a place in a kernel, however often it happens there.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "trimtab/error.h"

namespace trimtab::emulator::check {

// A place in the host program: a call that led to an allocation or a free.
struct HostFrame {
    std::string module;        // path of the program or library
    std::uint64_t offset = 0;  // in it, of the call
    std::string symbol;        // mangled; empty where the module exports none
    std::string place;         // "main at a.cu:12", where debug information was read
};
using HostStack = std::vector<HostFrame>;  // innermost first

struct AccessPlace {
    std::string source;          // "file.cu:12", or the PTX line where the source is unknown
    std::string instruction;     // as PTX
    std::uint32_t ptx_line = 0;  // of the linked PTX
    std::array<std::uint32_t, 3> thread{}, block{};
};

struct Report {
    std::string check;               // "memory", "race", "init", "sync"
    std::string kind;                // "out of bounds", "use after free", ...
    std::string kernel;              // mangled
    std::string text;                // one line: what happened, first time
    AccessPlace access;              // who did it, first time
    std::vector<AccessPlace> other;  // race: the earlier access
    std::uint64_t count = 0;         // lanes, or warps for barriers
    std::uint64_t allocation_bytes = 0;
    HostStack allocated, freed;  // memory, init: the host calls, where known
};

// Reports by site. Not thread-safe.
class Reports {
  public:
    // Kernel, instruction, the other instruction (race), kind.
    using Site = std::tuple<std::string, std::uint32_t, std::uint32_t, std::string>;

    // Counts one more at the site; nullptr if it is known already, else what is to be filled in.
    [[nodiscard]] Report* add(const Site& site);
    [[nodiscard]] const std::vector<Report>& all() const { return reports_; }
    [[nodiscard]] bool empty() const { return reports_.empty(); }

  private:
    std::map<Site, std::size_t> by_site_;
    std::vector<Report> reports_;
};

// {"checks": "memory,race", "reports": [...]}: docs/command-line.md.
[[nodiscard]] std::string to_json(const std::string& checks, const std::vector<Report>& reports);
[[nodiscard]] std::expected<std::vector<Report>, Error> reports_of_json(std::string_view text,
                                                                        const std::string& origin);
// Several lines, for people; each ends in a newline.
[[nodiscard]] std::string text_of(const Report& report);

}  // namespace trimtab::emulator::check
