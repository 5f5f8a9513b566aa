// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CUDA 13 dropped the header and texture references with it; texture objects need no header of their own.
#pragma once
