// Device side of the LLVM plugin: what the source says of each kernel and PTX does not.
#pragma once

#include <string>

namespace llvm {
class Module;
}

namespace trimtab::pass {

// Writes, as JSON, each kernel's demangled name, file, line and parameter names to `path`
// (docs/maintainers/house.md has the form; analysis reads it with read_kernel_sources). File and line need
// debug locations (-gline-tables-only is enough), parameter names -fno-discard-value-names. The file appears
// whole or not at all. A file that cannot be written is reported on stderr in one line: the program still
// builds.
void write_kernel_sources(const llvm::Module& module, const std::string& path);

}  // namespace trimtab::pass
