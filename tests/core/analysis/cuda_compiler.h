// Compiles small CUDA kernels with clang, without CUDA's own headers, so that each takes milliseconds.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "core/analysis/describe.h"

namespace trimtab::analysis {

inline std::ostream& operator<<(std::ostream& out, Verdict verdict) {
    return out << name(verdict);
}
inline std::ostream& operator<<(std::ostream& out, const Reason& reason) {
    return out << "rule " << reason.rule << ", " << reason.source << ": " << reason.text;
}

}  // namespace trimtab::analysis

namespace trimtab::analysis::test {

// PTX of `source`, which may use threadIdx, blockIdx, blockDim, gridDim, __global__, __device__ and clang's
// builtins. Fails the test, and returns "", where clang does.
[[nodiscard]] std::string compile_cuda(std::string_view source, const std::string& flags);

// PTX of a CUDA file with the CUDA toolkit's headers.
[[nodiscard]] std::string compile_cuda_file(const std::string& path, const std::string& flags);

// By CUDA's own compiler; "" where that is not installed.
[[nodiscard]] bool has_nvcc();
[[nodiscard]] std::string compile_by_nvcc(const std::string& path, const std::string& flags = "");
[[nodiscard]] std::string compile_source_by_nvcc(std::string_view source, const std::string& flags);

// A shared library of plain C++: its path, or "".
[[nodiscard]] std::string compile_host_library(std::string_view source);

// Parses and describes one PTX text as an image of `architecture`.
[[nodiscard]] std::vector<KernelDescription> describe_ptx(std::string_view ptx,
                                                          const std::string& architecture = "sm_75",
                                                          const Permissions& allowed = {});
// The kernel whose demangled name begins with `name` and an opening parenthesis; fails the test where there
// is none.
[[nodiscard]] const KernelDescription& kernel_named(const std::vector<KernelDescription>& kernels,
                                                    const std::string& name);

[[nodiscard]] std::string read_file(const std::string& path);

}  // namespace trimtab::analysis::test
