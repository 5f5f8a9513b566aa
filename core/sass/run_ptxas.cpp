// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/sass/run_ptxas.h"

#include <fstream>
#include <span>

#include "core/base/process.h"
#include "core/base/read_text.h"
#include "core/base/temporary_folder.h"

namespace trimtab::sass {

std::expected<Cubin, Error> run_ptxas(const std::string& ptxas, const std::string& ptx,
                                      const std::string& kernel, const std::string& architecture,
                                      const std::vector<std::string>& options) {
    const auto folder = base::TemporaryFolder::make();
    if (!folder) return std::unexpected(folder.error());
    const std::string input = folder->file("kernel.ptx"), output = folder->file("kernel.cubin");
    std::ofstream(input, std::ios::binary) << ptx;
    std::vector<std::string> words{ptxas, "-arch=" + architecture, "--entry", kernel, input, "-o", output};
    words.insert(words.end(), options.begin(), options.end());
    if (const auto built = base::run_to_success({.words = words}); !built)
        return std::unexpected(built.error());
    const auto bytes = base::read_text(output);
    if (!bytes) return std::unexpected(bytes.error());
    const auto span = std::as_bytes(std::span(*bytes));
    const auto resources = ptx::read_cubin(span, output);
    if (!resources) return std::unexpected(resources.error());
    const auto found = resources->find(kernel);
    if (found == resources->end())
        return std::unexpected(Error{.message = "ptxas's cubin holds no " + kernel});
    return Cubin{
        .architecture = architecture, .resources = found->second, .bytes = {span.begin(), span.end()}};
}

}  // namespace trimtab::sass
