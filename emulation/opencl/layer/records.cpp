// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/opencl/layer/records.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/device.h"

namespace trimtab::opencl {
namespace {

constexpr std::uint64_t gap_bytes = 4096;

template <class T>
T ask(const cl_icd_dispatch& next, cl_device_id device, cl_device_info what, T otherwise) {
    T value{};
    return next.clGetDeviceInfo(device, what, sizeof(T), static_cast<void*>(&value), nullptr) == CL_SUCCESS
               ? value
               : otherwise;
}

std::string ask_text(const cl_icd_dispatch& next, cl_device_id device, cl_device_info what) {
    std::array<char, 512> text{};
    return next.clGetDeviceInfo(device, what, text.size() - 1, text.data(), nullptr) == CL_SUCCESS
               ? text.data()
               : "";
}

bool is_of_our_platform(const cl_icd_dispatch& next, cl_device_id device) {
    const auto platform = ask<cl_platform_id>(next, device, CL_DEVICE_PLATFORM, nullptr);
    std::array<char, 64> name{};
    return platform != nullptr &&
           next.clGetPlatformInfo(platform, CL_PLATFORM_NAME, name.size() - 1, name.data(), nullptr) ==
               CL_SUCCESS &&
           std::string_view(name.data()) == "Trimtab";
}

}  // namespace

Records& Records::instance() {
    static Records& records = *new Records;  // never destroyed: programs launch while they end
    return records;
}

const DeviceRecord& Records::describe(cl_device_id device) {
    auto& record = devices_[device];
    if (record != nullptr) return *record;
    record = std::make_unique<DeviceRecord>();
    const std::string name = ask_text(*next, device, CL_DEVICE_NAME);
    record->device.name = name;
    record->device.ordinal = static_cast<std::uint32_t>(devices_.size() - 1);
    if (is_of_our_platform(*next, device)) {
        record->left_alone = "the platform chooses itself";
        return *record;
    }
    if (ask<cl_uint>(*next, device, CL_DEVICE_ADDRESS_BITS, 0) != 64) {
        record->left_alone = "its addresses have not 64 bits";
        return *record;
    }
    auto described = model::find_device(name);
    const std::string& given = Chooser::instance().settings().device;
    if (!described && !given.empty() && given != "gpu")
        described = model::find_device(given.substr(0, given.find(',')));
    if (!described) {
        record->left_alone = fmt::format("{} has no description", name);
        return *record;
    }
    trimtab_device& values = record->device.values = described->values;
    record->device.name = described->slug;
    // The driver's limits, where they are narrower.
    const auto narrow = [](double& value, std::size_t limit) {
        if (limit > 0) value = std::min(value, static_cast<double>(limit));
    };
    narrow(values.max_threads_per_block, ask<std::size_t>(*next, device, CL_DEVICE_MAX_WORK_GROUP_SIZE, 0));
    const auto sizes = ask<std::array<std::size_t, 3>>(*next, device, CL_DEVICE_MAX_WORK_ITEM_SIZES, {});
    narrow(values.max_block_x, sizes[0]);
    narrow(values.max_block_y, sizes[1]);
    narrow(values.max_block_z, sizes[2]);
    return *record;
}

void Records::add_queue(cl_command_queue queue, cl_device_id device) {
    const std::lock_guard lock(mutex_);
    queues_.set(queue, &describe(device));
}

void Records::add_memory(cl_mem memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    memory_[memory] = next_address_;
    next_address_ += (bytes + gap_bytes - 1) / gap_bytes * gap_bytes + gap_bytes;
}

void Records::add_part(cl_mem part, cl_mem whole, std::size_t origin, std::size_t bytes) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = memory_.find(whole); known != memory_.end()) {
            memory_[part] = known->second + origin;
            return;
        }
    }
    add_memory(part, bytes);
}

std::uint64_t Records::address_of(cl_mem memory) const {
    if (memory == nullptr) return 0;
    const std::lock_guard lock(mutex_);
    const auto known = memory_.find(memory);
    return known == memory_.end() ? 0 : known->second;
}

void Records::add_program(cl_program program, std::shared_ptr<ProgramRecord> record) {
    const std::lock_guard lock(mutex_);
    programs_[program] = std::move(record);
}

std::shared_ptr<ProgramRecord> Records::program_of(cl_program program) const {
    const std::lock_guard lock(mutex_);
    const auto known = programs_.find(program);
    return known == programs_.end() ? nullptr : known->second;
}

void Records::add_kernel(cl_kernel kernel, cl_program program, const std::string& name) {
    auto record = std::make_unique<KernelRecord>();
    record->name = name;
    record->program = program_of(program);
    cl_uint count = 0;
    if (next->clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr) != CL_SUCCESS)
        count = 0;
    record->arguments.resize(count);
    record->unset = count;
    for (ArgumentRecord& argument : record->arguments) record->places.push_back(argument.value.data());
    const std::lock_guard lock(mutex_);
    kernels_.set(kernel, record.get());
    owned_kernels_[kernel] = std::move(record);
}

void Records::forget_kernel(cl_kernel kernel) {
    const std::lock_guard lock(mutex_);
    kernels_.set(kernel, nullptr);
    owned_kernels_.erase(kernel);
}

}  // namespace trimtab::opencl
