// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An interface that is neither CUDA nor OpenCL: one device, one program, and answers as the test says.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "choosing/host.h"
#include "core/model/device.h"

namespace trimtab::choosing::testing {

class FakeHost : public Host {
  public:
    // The program's driver programs are those of `hash` among `bundles`.
    FakeHost(Bundles& bundles, std::string hash) : bundles_(bundles), hash_(std::move(hash)) {}

    std::shared_ptr<const KnownDevice> device(std::uint32_t) override {
        ++asked;
        if (!has_device) return nullptr;
        return std::make_shared<const KnownDevice>(
            KnownDevice{.values = model::find_device("rtx2070super")->values, .name = "rtx2070super"});
    }
    Own own(const Kernel& kernel) override {
        ++asked;
        return {.found = bundles_.find(hash_, kernel.name)};
    }
    Kernel* neighbour(Kernel&, std::string_view name) override {
        const auto place = neighbours.find(name);
        return place == neighbours.end() ? nullptr : place->second;
    }
    void correct(trimtab_image& image, const Kernel&, const LaunchShape&) override {
        ++corrections;
        if (max_threads_per_block != 0) image.max_threads_per_block = max_threads_per_block;
    }
    std::uint64_t max_dynamic_shared_bytes(const Kernel&, const LaunchShape&) override { return 0; }
    std::shared_ptr<const std::vector<std::byte>> code(const Kernel&) override { return code_of_program; }
    std::string_view word_for_block() const override { return "tile"; }

    bool has_device = true;
    double max_threads_per_block = 0;  // 0: as the description has it
    std::map<std::string, Kernel*, std::less<>> neighbours;
    std::shared_ptr<const std::vector<std::byte>> code_of_program;
    int asked = 0, corrections = 0;

  private:
    Bundles& bundles_;
    std::string hash_;
};

}  // namespace trimtab::choosing::testing
