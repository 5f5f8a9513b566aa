// Of the launcher: the images that the backend runs, and what it says of them.
#include <algorithm>

#include "analysis/legal_blocks.h"
#include "runtime/launches/launcher.h"

namespace trimtab::runtime {

// Of a handle of the driver API's: what cudaFuncGetAttributes tells of a host function.
std::optional<cudaFuncAttributes> Launcher::driver_attributes(const RegisteredKernel& kernel,
                                                              const choosing::LaunchShape& shape) const {
    if (shape.function == nullptr) return std::nullopt;
    auto function = static_cast<CUfunction>(const_cast<void*>(shape.function));
    if (kernel.kind == HandleKind::library_kernel &&
        calls_.driver.kernel_get_function(
            &function, static_cast<CUkernel>(const_cast<void*>(shape.function))) != CUDA_SUCCESS)
        return std::nullopt;
    const auto ask = [&](CUfunction_attribute attribute) {
        int value = -1;
        return calls_.driver.func_get_attribute(&value, attribute, function) == CUDA_SUCCESS ? value : -1;
    };
    cudaFuncAttributes attributes{};
    attributes.numRegs = ask(CU_FUNC_ATTRIBUTE_NUM_REGS);
    attributes.maxThreadsPerBlock = ask(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    const int shared_bytes = ask(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
              local_bytes = ask(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    if (attributes.numRegs < 0 || attributes.maxThreadsPerBlock < 0 || shared_bytes < 0 || local_bytes < 0)
        return std::nullopt;
    attributes.sharedSizeBytes = static_cast<std::size_t>(shared_bytes);
    attributes.localSizeBytes = static_cast<std::size_t>(local_bytes);
    attributes.maxDynamicSharedSizeBytes = ask(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    return attributes;
}

std::optional<cudaFuncAttributes> Launcher::attributes_of(const RegisteredKernel& kernel,
                                                          const choosing::LaunchShape& shape) const {
    if (kernel.kind != HandleKind::host_function) return driver_attributes(kernel, shape);
    cudaFuncAttributes attributes{};
    const PendingError pending(calls_);
    if (calls_.func_get_attributes(&attributes, kernel.host_function) == cudaSuccess) return attributes;
    pending.restore();
    return std::nullopt;
}

// What the backend says of the image it runs, else what the description expects.
trimtab_image Launcher::image_of(const RegisteredKernel& kernel, const choosing::KernelPlan& plan,
                                 const choosing::LaunchShape& shape, std::uint32_t ordinal,
                                 const choosing::KnownDevice& device) const {
    return plan.image(ordinal, [&] {
        trimtab_image image = analysis::to_driver_image(
            analysis::image_for(*plan.description(), device.values.compute_capability));
        const auto attributes =
            attributes_of(plan.stand_in() != nullptr ? *as_registered(plan.stand_in()) : kernel, shape);
        if (!attributes) return image;
        image.registers_per_thread = attributes->numRegs;
        image.static_shared_bytes = static_cast<double>(attributes->sharedSizeBytes);
        image.local_bytes_per_thread = static_cast<double>(attributes->localSizeBytes);
        const double limit = attributes->maxThreadsPerBlock;
        if (limit > 0 && (image.max_threads_per_block == 0 || limit < image.max_threads_per_block))
            image.max_threads_per_block = limit;
        return image;
    });
}

choosing::LaunchShape Launcher::with_shared_limit(const RegisteredKernel& kernel,
                                                  const choosing::KernelPlan& plan,
                                                  choosing::LaunchShape shape, bool may_be_supposed) const {
    if (!plan.description()->annotated_shared && !may_be_supposed) return shape;
    if (const auto attributes =
            attributes_of(plan.stand_in() != nullptr ? *as_registered(plan.stand_in()) : kernel, shape))
        shape.max_dynamic_shared_bytes =
            static_cast<std::uint64_t>(std::max(attributes->maxDynamicSharedSizeBytes, 0));
    return shape;
}

std::vector<choosing::OtherBody> Launcher::other_bodies(const choosing::KernelPlan& plan,
                                                        std::uint32_t ordinal,
                                                        const choosing::KnownDevice& device) {
    std::vector<choosing::OtherBody> bodies;
    // Its launches are the plan's own.
    if (plan.stand_in() != nullptr) return bodies;
    for (choosing::Kernel* other : plan.bodies()) {
        RegisteredKernel* kernel = as_registered(other);
        const choosing::KernelPlan& its = plan_of(*kernel);
        choosing::OtherBody& body = bodies.emplace_back();
        body.description = its.description();
        body.driver = its.driver();
        // Its bundle has gone, or its driver program talks nonsense: the place stays, and nothing is offered.
        if (body.driver == nullptr) continue;
        body.image = image_of(*kernel, its, {}, ordinal, device);
        if (body.description->annotated_shared)
            body.max_dynamic_shared_bytes = with_shared_limit(*kernel, its, {}).max_dynamic_shared_bytes;
    }
    return bodies;
}

}  // namespace trimtab::runtime
