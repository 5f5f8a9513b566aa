// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trimtab-replay: makes a captured launch again, as a program would (docs/captures.md).
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "emulation/emulator/capture/moved_pointers.h"
#include "tools/replay/memory.h"
#include "tools/replay/objects.h"

namespace trimtab::tools {
namespace {

namespace capture = emulator::capture;

std::expected<void, Error> done(cudaError_t status, const std::string& what) {
    if (status == cudaSuccess) return {};
    return std::unexpected(Error{.message = fmt::format("{}: {}", what, cudaGetErrorString(status))});
}

// What __cudaRegisterFatBinary is given, which stands for several fat binaries too (fatbinary_section.h).
struct Wrapper {
    std::int32_t magic = 0x466243b1;
    std::int32_t version = 2;
    const std::byte* data = nullptr;
    const std::byte* const* prelinked = nullptr;  // ends with null
};

class Replay {
  public:
    explicit Replay(const capture::Capture& captured)
        : captured_(captured), arguments_(captured.arguments.begin(), captured.arguments.end()) {}

    std::expected<void, Error> prepare() {
        if (auto mapped = map_allocations(captured_.allocations); !mapped) return mapped;
        for (const auto& region : captured_.allocations) {
            if (region.bytes.empty()) continue;
            auto bytes = bytes_at(region.address, region.bytes.size());
            if (auto known = done(cudaHostRegister(bytes.data(), bytes.size(), cudaHostRegisterMapped),
                                  fmt::format("its memory at {:#x}", region.address));
                !known)
                return known;
        }
        if (auto loaded = load(); !loaded) return loaded;
        if (auto placed = place_variables(); !placed) return placed;
        return place_objects(captured_, moved_);
    }

    std::expected<void, Error> launch() {
        std::vector<void*> arguments;
        for (const auto& parameter : captured_.parameters)
            arguments.push_back(arguments_.data() + parameter.offset_bytes);
        cudaLaunchConfig_t config{};
        config.gridDim = dim3(captured_.grid[0], captured_.grid[1], captured_.grid[2]);
        config.blockDim = dim3(captured_.block[0], captured_.block[1], captured_.block[2]);
        config.dynamicSmemBytes = captured_.dynamic_shared_bytes;
        cudaLaunchAttribute attributes[2] = {};
        if (captured_.cooperative) {
            attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
            attributes[config.numAttrs++].val.cooperative = 1;
        }
        const auto& cluster = captured_.cluster;
        if (cluster[0] * cluster[1] * cluster[2] > 1) {
            attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
            attributes[config.numAttrs++].val.clusterDim = {cluster[0], cluster[1], cluster[2]};
        }
        config.attrs = attributes;
        if (auto ok = allow(); !ok) return ok;
        if (auto ok = done(cudaLaunchKernelExC(&config, kernel_, arguments.data()), "the launch"); !ok)
            return ok;
        return done(cudaDeviceSynchronize(), "the launch");
    }

    // The launch as it left its memory.
    [[nodiscard]] capture::Capture after() const {
        capture::Capture out = captured_;
        for (auto& region : out.allocations) region.bytes = bytes_at(region.address, region.bytes.size());
        for (std::size_t i = 0; i < out.variables.size(); ++i)
            out.variables[i].region.bytes = bytes_at(places_[i], out.variables[i].region.bytes.size());
        return out;
    }

  private:
    std::expected<void, Error> load() {
        std::vector<const std::byte*> images;
        for (const auto& image : captured_.images) images.push_back(image.data());
        images.push_back(nullptr);
        Wrapper wrapper;
        wrapper.data = images.front();
        wrapper.prelinked = images.data();
        const void* const code =
            captured_.images.size() == 1 ? static_cast<const void*>(images.front()) : &wrapper;
        if (auto ok = done(cudaLibraryLoadData(&library_, code, nullptr, nullptr, 0, nullptr, nullptr, 0),
                           "its device code");
            !ok)
            return ok;
        cudaKernel_t kernel = nullptr;
        auto found =
            done(cudaLibraryGetKernel(&kernel, library_, captured_.kernel.c_str()), captured_.kernel);
        kernel_ = reinterpret_cast<const void*>(kernel);
        return found;
    }

    std::expected<void, Error> place_variables() {
        for (const auto& variable : captured_.variables) {
            void* place = nullptr;
            std::size_t size_bytes = 0;
            if (auto ok = done(cudaLibraryGetGlobal(&place, &size_bytes, library_, variable.name.c_str()),
                               variable.name);
                !ok)
                return ok;
            if (size_bytes != variable.region.bytes.size())
                return std::unexpected(
                    Error{.message = fmt::format("{} has {} bytes in its device code, and {} were captured",
                                                 variable.name, size_bytes, variable.region.bytes.size())});
            std::memcpy(place, variable.region.bytes.data(), size_bytes);
            places_.push_back(reinterpret_cast<std::uint64_t>(place));
            moved_.push_back(
                {.captured = variable.region.address, .now = places_.back(), .size_bytes = size_bytes});
        }
        capture::move_pointers(arguments_, moved_);
        for (const auto& region : captured_.allocations)
            capture::move_pointers(bytes_at(region.address, region.bytes.size()), moved_);
        for (std::size_t i = 0; i < places_.size(); ++i)
            capture::move_pointers(bytes_at(places_[i], captured_.variables[i].region.bytes.size()), moved_);
        return {};
    }

    // What a program must ask for before such a launch.
    std::expected<void, Error> allow() {
        constexpr std::uint32_t unasked_shared_bytes = 48 * 1024;
        constexpr std::uint64_t unasked_cluster = 8;
        const auto& cluster = captured_.cluster;
        if (std::uint64_t{cluster[0]} * cluster[1] * cluster[2] > unasked_cluster)
            if (auto ok =
                    done(cudaFuncSetAttribute(kernel_, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
                         "its cluster");
                !ok)
                return ok;
        if (captured_.dynamic_shared_bytes <= unasked_shared_bytes) return {};
        return done(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         static_cast<int>(captured_.dynamic_shared_bytes)),
                    "its dynamic shared memory");
    }

    const capture::Capture& captured_;
    std::vector<std::byte> arguments_;
    cudaLibrary_t library_ = nullptr;
    const void* kernel_ = nullptr;
    std::vector<std::uint64_t> places_;  // of the variables
    std::vector<capture::MovedVariable> moved_;
};

constexpr int exit_no = 1, exit_usage = 2, exit_bad_input = 3;

int fail(int code, const Error& error) {
    fmt::print(stderr, "trimtab: {}\n", error.text());
    return code;
}

int replay(const std::string& file, const std::string& after) {
    const auto read = capture::read(file);
    if (!read) return fail(exit_bad_input, read.error());
    const auto in_file = [&file](const Error& error) {
        return Error{.message = error.message, .file = file};
    };
    Replay replay(read->capture);
    if (const auto ready = replay.prepare(); !ready) return fail(exit_bad_input, in_file(ready.error()));
    if (const auto ran = replay.launch(); !ran) return fail(exit_no, in_file(ran.error()));
    if (after.empty()) return 0;
    const auto written = capture::write(after, replay.after());
    return written ? 0 : fail(exit_bad_input, written.error());
}

}  // namespace
}  // namespace trimtab::tools

int main(int argc, char** argv) {
    using namespace trimtab::tools;
    if (argc != 2 && argc != 3) {
        fmt::print(stderr,
                   "usage: trimtab-replay FILE [AFTER]: makes the launch that FILE holds; AFTER: the same "
                   "launch with "
                   "the memory as it left it\n");
        return exit_usage;
    }
    try {
        return replay(argv[1], argc == 3 ? argv[2] : "");
    } catch (const std::exception& error) {
        return fail(exit_bad_input, {.message = error.what(), .file = argv[1]});
    }
}
