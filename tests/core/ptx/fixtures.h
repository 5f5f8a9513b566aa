// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Texts, files and compilers for the tests of core/ptx/.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/control_flow.h"
#include "core/ptx/module.h"

namespace trimtab::ptx {

// A directory of the test's own, gone with the object.
class TemporaryDirectory {
  public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    [[nodiscard]] std::string path(const std::string& name) const { return (root_ / name).string(); }

  private:
    std::filesystem::path root_;
};

std::string read_text(const std::string& path);
std::vector<std::byte> read_bytes(const std::string& path);
void write_text(const std::string& path, std::string_view text);
std::string data_path(const std::string& name);  // in tests/core/ptx/data

struct CommandResult {
    int status = -1;
    std::string output;  // stdout and stderr
};
CommandResult run_command(const std::string& command);
// The flags with which clang finds CUDA.
std::string clang(const std::string& arguments);
std::string cuda_tool(const std::string& name);  // its path; "" where it is not installed

// `statements` as the body of a kernel `k` that has registers %p<16>, %rs<16>, %r<32>, %rd<32>, %f<32>,
// %fd<16>, parameters n (u32) and out (u64), and module variables table (.global .b8[64]) and staging
// (.shared .b8[256]).
std::string kernel_text(std::string_view statements);
// Parses it; a failure fails the test.
Module parse_ok(std::string_view text);
Module kernel_module(std::string_view statements);
// The error of a text that must not parse, as text() gives it.
std::string parse_error(std::string_view text);

}  // namespace trimtab::ptx
