// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launcher over a backend and a driver program that do what the test says.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/launches/launcher.h"
#include "runtime/modules/registrations.h"
#include "tests/runtime/fake_backend.h"

namespace trimtab::runtime {

constexpr trimtab_dim3 dim(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
    return {x, y, z};
}

// One kernel of a registered fat binary, and the launches that reach the backend.
class LauncherTest : public ::testing::Test {
  protected:
    LauncherTest() {
        testing::script().device = 0;
        testing::script().device_count = 1;
        testing::script().last_error = cudaSuccess;
        testing::script().max_threads_per_block = 1024;
        // Bigger blocks are faster, 128 threads the fastest of all.
        testing::driver_script().predict = [](const double*, trimtab_dim3 block) {
            return block.x == 128 ? 100.0 : 1000.0 - block.x;
        };
        testing::driver_script().doubt = 0;
        testing::driver_script().select_result = 1;
        testing::driver_script().best = dim(128);
        testing::driver_script().others.clear();
        testing::driver_script().selects = 0;
    }

    void start(const std::function<void(testing::FakeBundle&)>& spoil = {},
               const std::function<void(std::string&)>& edit_json = {}) {
        bundle_.emplace(description_, fat_binary_.hash(), edit_json);
        if (spoil) spoil(*bundle_);
        start_without_bundle();
        bundles_->add(&bundle_->bundle());
    }
    void start_without_bundle() {
        log_.emplace(settings_.log);
        bundles_.emplace(*log_);
        report_.emplace(settings_.report_path, *log_);
        launcher_.emplace(settings_, calls_, *bundles_, *report_, *log_, nullptr, load_emulation_);
        handle_ = registrations_.add_fat_binary(fat_binary_.wrapper());
        registrations_.add_function(handle_, &host_function_, description_.name.c_str());
    }

    cudaError_t launch(int n, trimtab_dim3 grid, trimtab_dim3 block, std::uint64_t shared_bytes = 0,
                       const char* keep = nullptr) {
        const LaunchShape shape{
            .written = {.grid = grid, .block = block, .dynamic_shared_bytes = shared_bytes},
            .arguments = arguments(n)};
        return launch(shape, keep);
    }
    cudaError_t launch(const LaunchShape& shape, const char* keep = nullptr) {
        return launcher_->launch(registrations_.find(&host_function_), shape, keep,
                                 [this](const trimtab_dim3& grid, const trimtab_dim3& block, std::uint64_t) {
                                     launched_.push_back({grid, block});
                                     const cudaError_t status = answer_(launched_.back());
                                     if (status != cudaSuccess) testing::script().last_error = status;
                                     return status;
                                 });
    }
    void* const* arguments(int n) {
        n_ = n;
        return arguments_;
    }
    void expect_last(trimtab_dim3 grid, trimtab_dim3 block) const {
        ASSERT_FALSE(launched_.empty());
        EXPECT_TRUE(same(launched_.back().grid, grid))
            << launched_.back().grid.x << "x" << launched_.back().grid.y;
        EXPECT_TRUE(same(launched_.back().block, block)) << launched_.back().block.x;
    }
    std::vector<nlohmann::json> report_lines() const {
        std::ifstream file(settings_.report_path);
        std::vector<nlohmann::json> lines;
        for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
        return lines;
    }
    void report_to_file() {
        settings_.report_path = ::testing::TempDir() + "launches_" + std::to_string(getpid()) + ".jsonl";
        std::filesystem::remove(settings_.report_path);
    }

    analysis::KernelDescription description_ = testing::guarded_kernel();
    testing::FakeFatBinary fat_binary_{"one fat binary"};
    Settings settings_;
    CrossCheck::Load load_emulation_;  // where settings_.crosscheck asks for one; empty: the library
    BackendCalls calls_ = testing::fake_calls();
    std::optional<Log> log_;
    std::optional<testing::FakeBundle> bundle_;
    std::optional<Bundles> bundles_;
    std::optional<Report> report_;
    Registrations registrations_;
    std::optional<Launcher> launcher_;
    void** handle_ = nullptr;
    char host_function_ = 0;
    int n_ = 0, step_ = 1, bound_ = 10;
    float* out_ = nullptr;
    void* arguments_[4] = {&n_, &out_, &step_, &bound_};
    std::function<cudaError_t(const testing::Launched&)> answer_ = [](const testing::Launched&) {
        return cudaSuccess;
    };
    std::vector<testing::Launched> launched_;
};

}  // namespace trimtab::runtime
