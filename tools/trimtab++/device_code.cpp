// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/device_code.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "tools/trimtab++/jobs.h"
#include "tools/trimtab++/process.h"

namespace trimtab::wrapper {
namespace {

int make_one(const CommandLine& line, const Toolchain& tools, std::size_t input,
             const TemporaryFolder& folder) {
    const std::string& source = line.arguments[input].tokens.front();
    const std::vector<std::string> wanted = architectures(line, tools);
    if (line.nvcc.output != NvccOutput::fat_binary) {
        const bool assembly = line.nvcc.output == NvccOutput::ptx;
        return run(device_command(line, tools, input, wanted.front(), assembly,
                                  output_of(line, source, assembly ? ".ptx" : ".cubin")));
    }
    std::vector<std::pair<std::string, std::string>> images;
    for (const std::string& architecture : wanted) {
        for (const bool assembly : {true, false}) {
            const std::string file = folder.file(architecture + (assembly ? ".ptx" : ".cubin"));
            if (const int code = run(device_command(line, tools, input, architecture, assembly, file));
                code != 0)
                return code;
            images.emplace_back((assembly ? "ptx," : "elf,") + architecture.substr(3), file);
        }
    }
    return make_fat_binary(tools, images, output_of(line, source, ".fatbin"));
}

}  // namespace

int make_fat_binary(const Toolchain& tools, const std::vector<std::pair<std::string, std::string>>& images,
                    const std::string& output) {
    std::vector<std::string> command{tools.cuda + "/bin/fatbinary", "-64", "--create", output};
    for (const auto& [image, file] : images) {
        const std::size_t comma = image.find(',');
        command.push_back(fmt::format("--image3=kind={},sm={},file={}", image.substr(0, comma),
                                      image.substr(comma + 1), file));
    }
    return run(command);
}

int make_device_code(const CommandLine& line, const Toolchain& tools) {
    const auto folder = TemporaryFolder::make();
    if (!folder) {
        fmt::print(stderr, "trimtab++: error: {}\n", folder.error().text());
        return 3;
    }
    bool any = false;
    for (std::size_t i = 0; i < line.arguments.size(); ++i) {
        if (!line.arguments[i].is_cuda) continue;
        any = true;
        if (const int code = make_one(line, tools, i, *folder); code != 0) return code;
    }
    if (any) return 0;
    fmt::print(stderr, "trimtab++: error: no CUDA source to make device code of\n");
    return 1;
}

}  // namespace trimtab::wrapper
