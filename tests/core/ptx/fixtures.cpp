// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixtures.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace trimtab::ptx {

TemporaryDirectory::TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "trimtab-ptx-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory");
    root_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
}

std::string read_text(const std::string& path) {
    const std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    std::ostringstream out;
    out << file.rdbuf();
    return out.str();
}

std::vector<std::byte> read_bytes(const std::string& path) {
    const std::string text = read_text(path);
    const auto* start = reinterpret_cast<const std::byte*>(text.data());
    return {start, start + text.size()};
}

void write_text(const std::string& path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
}

std::string data_path(const std::string& name) {
    return std::string(TRIMTAB_SOURCE_DIR "/tests/core/ptx/data/") + name;
}

CommandResult run_command(const std::string& command) {
    CommandResult out;
    std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");  // NOLINT(bugprone-command-processor)
    if (pipe == nullptr) return out;
    std::array<char, 4096> buffer{};
    for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
        out.output.append(buffer.data(), got);
    }
    const int status = pclose(pipe);
    out.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return out;
}

std::string clang(const std::string& arguments) {
    return fmt::format("{} -x cuda --cuda-path={} -Wno-unknown-cuda-version {}", TRIMTAB_CLANG,
                       TRIMTAB_CUDA_PATH, arguments);
}

std::string cuda_tool(const std::string& name) {
    std::string path = std::string(TRIMTAB_CUDA_PATH "/bin/") + name;
    return std::filesystem::exists(path) ? path : "";
}

std::string kernel_text(std::string_view statements) {
    return fmt::format(R"(.version 8.8
.target sm_80
.address_size 64
.global .align 16 .b8 table[64];
.shared .align 16 .b8 staging[256];
.visible .entry k(.param .u32 n, .param .u64 out)
{{
.reg .pred %p<16>; .reg .b16 %rs<16>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .f32 %f<32>; .reg .f64 %fd<16>;
{}
}}
)",
                       statements);
}

Module parse_ok(std::string_view text) {
    auto module = parse(text, "test.ptx");
    EXPECT_TRUE(module) << (module ? "" : module.error().text());
    return module ? std::move(*module) : Module{};
}

Module kernel_module(std::string_view statements) {
    return parse_ok(kernel_text(statements));
}

std::string parse_error(std::string_view text) {
    const auto module = parse(text, "test.ptx");
    EXPECT_FALSE(module) << "it parses: " << text;
    return module ? "" : module.error().text();
}

}  // namespace trimtab::ptx
