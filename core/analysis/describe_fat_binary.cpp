// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a fat binary's images to descriptions.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/analysis/describe.h"

namespace trimtab::analysis {
namespace {

using ptx::FatBinaryImage;

struct Cubin {
    unsigned architecture = 0;
    std::string architecture_name;
    std::map<std::string, ptx::KernelResources> resources;
};

// PTX images of one architecture are parts of one program, as relocatable code has them: linked, in the order
// of the architectures' first images.
struct LinkedImage {
    unsigned architecture = 0;
    std::string architecture_name;
    std::vector<ptx::Module> parts;
};

std::expected<std::vector<LinkedImage>, Error> ptx_images(const ptx::FatBinary& binary,
                                                          const std::string& origin) {
    std::vector<LinkedImage> images;
    for (const FatBinaryImage& image : binary.images) {
        if (image.kind != FatBinaryImage::Kind::ptx) continue;
        const std::string_view text(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size());
        auto module = ptx::parse(text, fmt::format("{} ({} PTX)", origin, image.architecture_name));
        if (!module) return std::unexpected(std::move(module.error()));
        auto same = std::ranges::find(images, image.architecture_name, &LinkedImage::architecture_name);
        if (same == images.end())
            same = images.insert(same, {image.architecture, image.architecture_name, {}});
        same->parts.push_back(std::move(*module));
    }
    for (LinkedImage& image : images) {
        if (image.parts.size() == 1) continue;
        auto linked = ptx::link(std::move(image.parts));
        if (!linked) return std::unexpected(std::move(linked.error()));
        image.parts.clear();
        image.parts.push_back(std::move(*linked));
    }
    return images;
}

// The cubin of the same architecture, else the next one above, else the highest below: registers differ
// little between neighbours, and the description says whose they are.
const Cubin* cubin_for(const std::vector<Cubin>& cubins, const LinkedImage& image) {
    const Cubin* best = nullptr;
    for (const Cubin& cubin : cubins) {
        if (cubin.architecture_name == image.architecture_name) return &cubin;
        if (best == nullptr) {
            best = &cubin;
            continue;
        }
        const bool is_above = cubin.architecture >= image.architecture,
                   best_is_above = best->architecture >= image.architecture;
        if (is_above != best_is_above ? is_above
            : is_above                ? cubin.architecture < best->architecture
                                      : cubin.architecture > best->architecture)
            best = &cubin;
    }
    return best;
}

// Machine code may come from other source than the PTX of another architecture does (__CUDA_ARCH__): where
// its own PTX is not there, nothing is known of it.
void refuse_unproved_cubins(const std::vector<Cubin>& cubins, const std::vector<LinkedImage>& images,
                            std::vector<KernelDescription>& kernels) {
    for (const Cubin& cubin : cubins) {
        if (std::ranges::find(images, cubin.architecture_name, &LinkedImage::architecture_name) !=
            images.end())
            continue;
        for (KernelDescription& kernel : kernels) {
            const auto at = cubin.resources.find(kernel.name);
            if (at == cubin.resources.end()) continue;
            if (kernel.verdict != Verdict::fixed) kernel.reasons.clear();
            kernel.verdict = Verdict::fixed;
            kernel.reasons.push_back(
                {5, "",
                 fmt::format(
                     "the program has machine code for {0} without the PTX that it was made from, which "
                     "may differ from the PTX that was judged; embed the PTX of {0} too",
                     cubin.architecture_name)});
            kernel.images.push_back({.architecture = cubin.architecture_name,
                                     .registers = at->second.registers_per_thread,
                                     .registers_from = fmt::format("ptxas {}", cubin.architecture_name),
                                     .shared_bytes = at->second.static_shared_bytes,
                                     .local_bytes = at->second.local_bytes_per_thread,
                                     .max_threads = at->second.max_threads_per_block});
        }
    }
}

}  // namespace

std::expected<std::vector<ptx::Module>, Error> modules_of(const ptx::FatBinary& binary,
                                                          const std::string& origin) {
    auto linked = ptx_images(binary, origin);
    if (!linked) return std::unexpected(std::move(linked.error()));
    std::vector<ptx::Module> modules;
    for (LinkedImage& image : *linked) modules.push_back(std::move(image.parts.front()));
    return modules;
}

std::expected<DescribedFatBinary, Error> describe_fat_binary(const ptx::FatBinary& binary,
                                                             const KernelSources& sources,
                                                             const std::string& origin,
                                                             const Permissions& allowed, unsigned threads) {
    DescribedFatBinary described;
    described.hash = binary.hash;
    std::vector<Cubin> cubins;
    for (const FatBinaryImage& image : binary.images) {
        if (image.kind != FatBinaryImage::Kind::cubin) continue;
        auto resources =
            ptx::read_cubin(image.bytes, fmt::format("{} ({} cubin)", origin, image.architecture_name));
        if (!resources) return std::unexpected(std::move(resources.error()));
        cubins.push_back({image.architecture, image.architecture_name, std::move(*resources)});
    }
    auto linked = ptx_images(binary, origin);
    if (!linked) return std::unexpected(std::move(linked.error()));
    if (linked->empty())
        return std::unexpected(Error{.message =
                                         "the fat binary holds no PTX: build with --cuda-include-ptx=all "
                                         "(clang) or -gencode with a virtual architecture (nvcc)",
                                     .file = origin});
    std::vector<Image> images;
    for (LinkedImage& image : *linked) {
        described.modules.push_back(std::move(image.parts.front()));
        Image& made = images.emplace_back();
        made.architecture = image.architecture_name;
        if (const Cubin* cubin = cubin_for(cubins, image); cubin != nullptr) {
            made.resources = cubin->resources;
            made.resources_from = fmt::format("ptxas {}", cubin->architecture_name);
            if (cubin->architecture_name != image.architecture_name)
                made.resources_from += fmt::format(" (proxy for {})", image.architecture_name);
        }
    }
    for (std::size_t i = 0; i < images.size(); i++) images[i].module = &described.modules[i];
    auto kernels = describe(images, sources, allowed, threads);
    if (!kernels) return std::unexpected(std::move(kernels.error()));
    refuse_unproved_cubins(cubins, *linked, *kernels);
    described.kernels = std::move(*kernels);
    return described;
}

}  // namespace trimtab::analysis
