// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/launch_capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <set>

#include "core/analysis/launches/demangle.h"
#include "emulation/cuda/image_choice.h"
#include "emulation/emulator/capture/capture.h"

namespace trimtab::cuda {
namespace {

namespace capture = emulator::capture;

constexpr std::uint64_t default_most_bytes = std::uint64_t{256} << 20;

// What the environment asks for, and how far the program has come.
struct Wanted {
    capture::Request request;
    std::string file = "trimtab.capture";
    std::uint64_t most_bytes = default_most_bytes;
    std::mutex mutex;
    std::uint64_t launches = 0;  // of that kernel, so far
};

std::string_view text_of(const char* value) {
    return value == nullptr ? std::string_view() : std::string_view(value);
}

void say_what_is_missing();

Wanted* make_wanted() {
    const std::string_view text = text_of(secure_getenv("TRIMTAB_CAPTURE"));
    if (text.empty()) return nullptr;
    State& state = State::instance();
    auto request = capture::parse_request(text);
    if (!request) {
        state.say(fmt::format("TRIMTAB_CAPTURE={}: {}; nothing is captured", text, request.error().message));
        return nullptr;
    }
    auto* const wanted = new Wanted;
    wanted->request = std::move(*request);
    if (const std::string_view file = text_of(secure_getenv("TRIMTAB_CAPTURE_FILE")); !file.empty())
        wanted->file = file;
    if (const std::string_view most = text_of(secure_getenv("TRIMTAB_CAPTURE_BYTES")); !most.empty()) {
        std::uint64_t bytes = 0;
        const auto [end, error] = std::from_chars(most.data(), most.data() + most.size(), bytes);
        if (error == std::errc() && end == most.data() + most.size())
            wanted->most_bytes = bytes;
        else
            state.say(fmt::format(
                "TRIMTAB_CAPTURE_BYTES={} is not understood: it takes a number of bytes; taken as {}", most,
                wanted->most_bytes));
    }
    std::atexit(say_what_is_missing);
    return wanted;
}

Wanted* wanted_of_environment() {
    // Lives as long as State: launches may still run while the process ends.
    static Wanted* const wanted = make_wanted();
    return wanted;
}

void say_what_is_missing() {
    Wanted* const wanted = wanted_of_environment();
    if (wanted == nullptr) return;
    const std::lock_guard lock(wanted->mutex);
    if (wanted->launches < wanted->request.launch)
        State::instance().say(fmt::format("TRIMTAB_CAPTURE: launch {} of {} was not captured: there were {}",
                                          wanted->request.launch, wanted->request.kernel, wanted->launches));
}

bool reads_textures(const TimedLaunch& launch) {
    constexpr std::string_view families[] = {"tex.", "tld4.", "txq.", "suld.", "sust.", "sured.", "suq."};
    const emulator::CompiledKernel* const kernel = launch.program->kernel(launch.info->name);
    if (kernel == nullptr) return false;
    return std::ranges::any_of(kernel->reached(), [&](const ptx::Function* function) {
        return std::ranges::any_of(function->body, [&](const ptx::Instruction& instruction) {
            return std::ranges::any_of(
                families, [&](std::string_view family) { return instruction.mnemonic.starts_with(family); });
        });
    });
}

capture::Region region_of(const Allocation& allocation) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a device pointer is a host pointer
    const auto* const first = reinterpret_cast<const std::byte*>(allocation.first);
    return {.address = allocation.first, .bytes = {first, allocation.size_bytes}};
}

// The module that the launch's program was loaded from; empty: it is gone.
std::vector<std::span<const std::byte>> images_of(State& state, const Device& device,
                                                  const TimedLaunch& launch) {
    std::vector<std::span<const std::byte>> out;
    for (const auto& module : state.modules.all()) {
        const auto loaded = module->loaded.find(device.ordinal);
        if (loaded == module->loaded.end() || loaded->second->program != launch.program) continue;
        for (const std::byte* start : module->borrowed) out.emplace_back(start, fat_binary_bytes(start));
        for (const auto& bytes : module->containers) out.emplace_back(bytes);
    }
    return out;
}

std::vector<capture::Variable> variables_of(const Program& program) {
    std::vector<capture::Variable> out;
    const auto add = [&](const ptx::Variable& variable) {
        const auto storage = program.storage(variable.name);
        const bool is_known = std::ranges::find(out, variable.name, &capture::Variable::name) != out.end();
        if (!storage || storage->size_bytes == 0 || is_known) return;
        out.push_back(
            {.name = variable.name,
             .region = {.address = storage->address, .bytes = {storage->host, storage->size_bytes}}});
    };
    for (const ptx::Variable& variable : program.module().variables) add(variable);
    for (const ptx::Function& function : program.module().functions)
        for (const ptx::Variable& variable : function.variables) add(variable);
    return out;
}

// The objects whose texels are there still, and in what `out` holds: those of others no launch may read. An
// array's memory is reached through objects alone.
void add_objects(const State& state, const MemoryMap& memory, capture::Capture& out) {
    const auto textures = state.textures.textures();
    const auto surfaces = state.textures.surfaces();
    std::set<std::uint64_t> arrays;
    const auto add_array = [&](const Image& image) {
        const Allocation* const allocation = memory.find(reinterpret_cast<std::uint64_t>(image.host));
        if (allocation == nullptr || allocation->kind != MemoryKind::array ||
            !arrays.insert(allocation->first).second)
            return;
        out.allocations.push_back(region_of(*allocation));
    };
    for (const auto& [handle, texture] : textures) std::ranges::for_each(texture.levels, add_array);
    for (const auto& [handle, surface] : surfaces) add_array(surface.image);
    std::ranges::sort(out.allocations, {}, &capture::Region::address);
    const auto is_held = [&](const Image& image) { return !capture::region_of(out, image).bytes.empty(); };
    for (const auto& [handle, texture] : textures)
        if (std::ranges::all_of(texture.levels, is_held))
            out.textures.push_back({.handle = handle, .texture = texture});
    for (const auto& [handle, surface] : surfaces)
        if (is_held(surface.image)) out.surfaces.push_back({.handle = handle, .surface = surface});
}

std::array<std::uint32_t, 3> sizes(const trimtab_dim3& size) {
    return {size.x, size.y, size.z};
}

// Why the launch cannot be captured; nothing: it has been.
std::optional<std::string> write(State& state, const Device& device, const TimedLaunch& launch,
                                 bool cooperative, const Wanted& wanted) {
    const auto [heap_first, heap_end] = launch.program->heap().range();
    if (heap_first != heap_end)
        return "its module has memory from malloc() in kernels, which a capture does not hold";
    capture::Capture out;
    out.kernel = launch.info->name;
    out.device = device.description.slug;
    // Where the kernel is told of another launch than goes out, that one is the program's.
    out.grid = sizes(launch.written ? launch.written->grid : launch.grid);
    out.block = sizes(launch.written ? launch.written->block : launch.block);
    out.cluster = sizes(launch.cluster);
    out.dynamic_shared_bytes = launch.dynamic_shared_bytes;
    out.cooperative = cooperative;
    out.arguments = launch.parameters;
    const ptx::Function* const function = launch.program->module().function(launch.info->name);
    for (const ptx::Variable& parameter : function->parameters)
        out.parameters.push_back({.offset_bytes = static_cast<std::uint32_t>(parameter.offset_bytes),
                                  .size_bytes = static_cast<std::uint32_t>(parameter.size_bytes)});
    out.variables = variables_of(*launch.program);
    const auto memory = state.heap.map();
    for (const Allocation& allocation : memory->allocations) {
        const bool is_reached =
            allocation.kind != MemoryKind::array && allocation.access != MemoryAccess::none;
        if (!is_reached || allocation.size_bytes == 0) continue;
        out.allocations.push_back(region_of(allocation));
    }
    // A handle is a number among others: which objects a launch reaches is not to be seen.
    if (reads_textures(launch)) add_objects(state, *memory, out);
    if (out.memory_bytes() > wanted.most_bytes)
        return fmt::format("it can reach {} bytes, and TRIMTAB_CAPTURE_BYTES allows {}", out.memory_bytes(),
                           wanted.most_bytes);
    // The images stay as long as the module does.
    const std::lock_guard lock(state.mutex);
    out.images = images_of(state, device, launch);
    if (out.images.empty()) return "its module has been unloaded";
    const bool are_texts = std::ranges::any_of(
        out.images, [](const auto& image) { return fat_binary_bytes(image.data()) == 0; });
    if (out.images.size() > 1 && are_texts)
        return "its module was linked at run time from several texts of PTX, which a capture does not hold";
    if (const auto written = capture::write(wanted.file, out); !written) return written.error().text();
    return std::nullopt;
}

}  // namespace

void capture_if_wanted(State& state, const Device& device, const TimedLaunch& launch, bool cooperative) {
    Wanted* const wanted = wanted_of_environment();
    if (wanted == nullptr) return;
    const std::string name = analysis::demangle(launch.info->name);
    if (!capture::names_kernel(wanted->request.kernel, launch.info->name, name)) return;
    const std::lock_guard lock(wanted->mutex);
    if (++wanted->launches != wanted->request.launch) return;
    const auto why = write(state, device, launch, cooperative, *wanted);
    if (why)
        state.say(fmt::format("TRIMTAB_CAPTURE: launch {} of {} is not captured: {}", wanted->launches, name,
                              *why));
    else
        state.say(
            fmt::format("TRIMTAB_CAPTURE: launch {} of {} is in {}", wanted->launches, name, wanted->file));
}

}  // namespace trimtab::cuda
