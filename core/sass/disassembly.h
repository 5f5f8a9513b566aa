// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvdisasm's text of a cubin, read: functions and their instructions.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/sass/instruction.h"
#include "trimtab/error.h"

namespace trimtab::sass {

// A kernel with the subroutines that ptxas put behind it, or a function of its own.
struct Function {
    std::string name;
    Layout layout = Layout::whole;
    std::uint32_t registers = 0;  // of a thread, as the section says; 0: it does not
    std::vector<Instruction> instructions;
    std::map<std::string, std::uint32_t, std::less<>> labels;  // name -> address
    std::vector<std::uint32_t> subroutines;                    // addresses where one begins, ascending

    [[nodiscard]] std::uint32_t address_of(std::size_t instruction) const {
        return sass::address_of(layout, static_cast<std::uint32_t>(instruction));
    }
    [[nodiscard]] std::uint32_t index_at(std::uint32_t address) const {
        return sass::index_at(layout, address);
    }
    // Where the next instruction would stand.
    [[nodiscard]] std::uint32_t end_address() const { return address_of(instructions.size()); }
    [[nodiscard]] std::uint32_t code_bytes() const;
};

struct Disassembly {
    unsigned architecture = 0;  // 86
    std::vector<Function> functions;

    [[nodiscard]] const Function* function(std::string_view name) const;
};

// The text of `nvdisasm -c -gp -hex`, of an architecture from 5.0 on. `origin` names it in errors, which give
// the line. Opcodes that the table does not know are kept, with no pipe and no more than what their operands
// tell.
[[nodiscard]] std::expected<Disassembly, Error> read_disassembly(std::string_view text,
                                                                 const std::string& origin);

}  // namespace trimtab::sass
