// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Read once for the files of all tests (trimtab_precompile).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmake/precompiled/library.h"
