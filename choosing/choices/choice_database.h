// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The file of TRIMTAB_CHOICES: one row a (kernel, device, D), in SQLite. A library of its own, for few
// programs want it and SQLite takes longer to load than Trimtab; choosing/choices/choice_store.h loads it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "trimtab/driver.h"

namespace trimtab::choosing {

// A row. The texts and the key live as long as the call.
struct ChoiceRow {
    const char* kernel = nullptr;  // the description's id
    const char* device = nullptr;
    const void* key = nullptr;  // D and the launch as written
    std::size_t key_bytes = 0;
    std::uint64_t build =
        0;  // of the driver program, the image and the device's description: another one's row is void
    trimtab_dim3 block{};
    trimtab_dim3 grid{};          // zeros: the one that covers the launch's threads
    std::array<char, 17> body{};  // the id of another body of the kernel, and a zero; empty: its own
    double written_ns = 0, chosen_ns = 0;
};

extern "C" {
// Answers below: the file cannot be used, and `error` says why; or another process is writing, try again
// later.
inline constexpr int choices_failed = -1, choices_busy = -2;

// Opens or makes the file; null: `error` says why, or is empty where another process is making it.
void* trimtab_choices_open(const char* path, char* error, std::size_t error_bytes);
void trimtab_choices_close(void* database);
// Fills in block and times. 1: found, 0: not, or as above.
int trimtab_choices_find(void* database, ChoiceRow* row, char* error, std::size_t error_bytes);
// All rows or none. 0, or as above.
int trimtab_choices_add(void* database, const ChoiceRow* rows, std::size_t count, char* error,
                        std::size_t error_bytes);
}

}  // namespace trimtab::choosing
