// From a fat binary's images to descriptions.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/describe.h"

namespace trimtab::analysis {
namespace {

using ptx::FatBinaryImage;

struct Cubin {
    unsigned architecture = 0;
    std::string architecture_name;
    std::map<std::string, ptx::KernelResources> resources;
};

// The cubin of the same architecture, else the next one above, else the highest below: registers differ
// little between neighbours, and the description says whose they are.
const Cubin* cubin_for(const std::vector<Cubin>& cubins, const FatBinaryImage& image) {
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

}  // namespace

std::expected<DescribedFatBinary, Error> describe_fat_binary(const ptx::FatBinary& binary,
                                                             const KernelSources& sources,
                                                             const std::string& origin) {
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
    std::vector<Image> images;
    for (const FatBinaryImage& image : binary.images) {
        if (image.kind != FatBinaryImage::Kind::ptx) continue;
        const std::string_view text(reinterpret_cast<const char*>(image.bytes.data()), image.bytes.size());
        auto module = ptx::parse(text, fmt::format("{} ({} PTX)", origin, image.architecture_name));
        if (!module) return std::unexpected(std::move(module.error()));
        described.modules.push_back(std::move(*module));
        Image& made = images.emplace_back();
        made.architecture = image.architecture_name;
        if (const Cubin* cubin = cubin_for(cubins, image); cubin != nullptr) {
            made.resources = cubin->resources;
            made.resources_from = fmt::format("ptxas {}", cubin->architecture_name);
            if (cubin->architecture_name != image.architecture_name)
                made.resources_from += fmt::format(" (proxy for {})", image.architecture_name);
        }
    }
    if (images.empty())
        return std::unexpected(Error{.message =
                                         "the fat binary holds no PTX: build with --cuda-include-ptx=all "
                                         "(clang) or -gencode with a virtual architecture (nvcc)",
                                     .file = origin});
    for (std::size_t i = 0; i < images.size(); i++) images[i].module = &described.modules[i];
    auto kernels = describe(images, sources);
    if (!kernels) return std::unexpected(std::move(kernels.error()));
    described.kernels = std::move(*kernels);
    return described;
}

}  // namespace trimtab::analysis
