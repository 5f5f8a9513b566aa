// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Read once for the files of the subcommands of `trimtab` (trimtab_precompile_own).
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cmake/precompiled/library.h"
#include "tools/trimtab/command.h"
