// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of a file: a CUDA source, PTX, or a binary with or without Trimtab's records.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/analysis/launches/description.h"
#include "core/ptx/module.h"
#include "tools/trimtab/records.h"
#include "trimtab/error.h"

namespace trimtab::tools {

struct FileKernel {
    KernelRecord record;
    std::string input, compiler;  // of the record; empty where the kernel was described just now
    // The linked PTX that holds it; null where the file has none any more.
    std::shared_ptr<const ptx::Module> module;
    std::shared_ptr<const std::string> ptx;  // the module's text
};

struct KernelFile {
    std::string path;
    bool instrumented = false;  // its kernels come from records
    std::vector<FileKernel> kernels;
};

// `compiler_flags` are for a CUDA source, which trimtab++ compiles. A binary without a kernel gives an empty
// list.
[[nodiscard]] std::expected<KernelFile, Error> load_kernels(
    const std::string& path, const std::vector<std::string>& compiler_flags = {});

// Of device code in memory: fat binaries, or one text of PTX with its NUL, as a capture holds them. `path` is for messages.
[[nodiscard]] std::expected<KernelFile, Error> load_images(std::span<const std::span<const std::byte>> images,
                                                           const std::string& path);

// What clang needs so that a source's kernels take the registers that nvcc would give them: it unrolls
// whatever it is told to, and leaves sums above the branch that stores them. Sunk below it, what they are
// summed from fills the registers.
[[nodiscard]] std::vector<std::string> register_flags();

// "gemm_kernel" of "void ns::gemm_kernel<float>(float*, int)".
[[nodiscard]] std::string base_name(const std::string& demangled);

// By mangled name, demangled name, id, or base name where only one kernel has it. The error offers the
// nearest name.
[[nodiscard]] std::expected<std::size_t, Error> find_kernel(const KernelFile& file, const std::string& name);

}  // namespace trimtab::tools
