// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab++/nvcc_verbose.h"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>

#include "tools/trimtab++/jobs.h"

namespace trimtab::wrapper {

bool is_verbose(const CommandLine& line) {
    bool verbose = false;
    bool inputs = false;
    for (const Argument& argument : line.arguments) {
        verbose |= argument.kind == Argument::Kind::option && argument.tokens.front() == "-v";
        inputs |= argument.kind == Argument::Kind::input;
    }
    return verbose && inputs;
}

std::string nvcc_version_text(unsigned cuda_version, const std::string& clangxx) {
    // CUDA_VERSION is 1000 major + 10 minor (cuda.h); it does not have the third number.
    const std::string release = fmt::format("{}.{}", cuda_version / 1000, cuda_version % 1000 / 10);
    return fmt::format(
        "nvcc: NVIDIA (R) Cuda compiler driver\n"
        "In its place: trimtab++ (Trimtab) " TRIMTAB_VERSION
        "\n"
        "Compiles with {0}\n"
        "Cuda compilation tools, release {1}, V{1}.0\n",
        clangxx, release);
}

std::string nvcc_verbose_text(const CommandLine& line, const std::string& cuda, const std::string& own_path) {
    const char* path = std::getenv("PATH");
    const std::string libraries = fmt::format(R"("-L{0}/lib64/stubs" "-L{0}/lib64")", cuda);
    std::string text = fmt::format(
        "#$ TOP={0}\n#$ NVVMIR_LIBRARY_DIR={0}/nvvm/libdevice\n#$ PATH={1}:{2}\n"
        "#$ INCLUDES=\"-I{0}/include\"\n#$ SYSTEM_INCLUDES=\"-isystem\" \"{0}/include/cccl\"\n"
        "#$ LIBRARIES= {3}\n",
        cuda, std::filesystem::path(own_path).parent_path().string(), path != nullptr ? path : "", libraries);
    if (line.mode != Mode::link || !line.compiles_cuda()) return text;
    for (const Argument& argument : line.arguments)
        if (argument.is_cuda)
            // CMake takes the architectures of a project that names none from here.
            text += fmt::format("#$ \"{}\" -arch compute_75 -c \"{}\" -o \"{}\"\n", own_path,
                                argument.tokens.front(), default_object(argument.tokens.front()));
    text += fmt::format("#$ \"{}\" -m64 -Wl,--start-group", own_path);
    for (const Argument& argument : line.arguments)
        if (argument.kind == Argument::Kind::input)
            text += fmt::format(" \"{}\"", argument.is_cuda ? default_object(argument.tokens.front())
                                                            : argument.tokens.front());
    // As nvcc's, for links by other compilers: the objects find Trimtab's runtime themselves (pass/find_runtime.h).
    return text + fmt::format(" {} -lcudart_static -lrt -lpthread -ldl -Wl,--end-group -o \"{}\"\n",
                              libraries, line.output.empty() ? "a.out" : line.output);
}

}  // namespace trimtab::wrapper
