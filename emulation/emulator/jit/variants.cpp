// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/jit/variants.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string_view>
#include <utility>

#include "code_hash.h"
#include "emulation/emulator/exec/address_resolution.h"
#include "emulation/emulator/exec/block.h"
#include "emulation/emulator/exec/handlers.h"
#include "emulation/emulator/exec/program.h"
#include "emulation/emulator/exec/worker.h"
#include "emulation/emulator/jit/abi.h"
#include "emulation/emulator/jit/code_cache.h"
#include "emulation/emulator/jit/warp_layout.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace trimtab::emulator::jit {
namespace {

// Interpreted, this many warp instructions take about as long as a look into the cache; and half as long as
// compiling one instruction (measured: 0.3 ms; the interpreter's take some 8 ns): what is compiled is kept
// for the next time.
constexpr std::uint64_t worth_a_look = 20'000, worth_compiling_one = 20'000,
                        worth_compiling_least = 1'000'000;
// Large kernels of up to so many instructions are compiled in registers, too, in less than a second, once
// they have run so much longer; then they are a fifth to a third faster.
constexpr std::uint32_t most_for_long_runs = 1'000;
constexpr std::uint64_t long_run = 50;
// Beyond this many instructions nobody would wait.
constexpr std::uint32_t most_instructions = 20'000;

bool is_log_level(std::string_view wanted) {
    const char* level = secure_getenv("TRIMTAB_LOG");
    return level != nullptr && level == wanted;
}

void say(const std::string& text) {
    std::fputs(("trimtab: " + text + "\n").c_str(), stderr);
}

// The code made needs these vectors to be worth anything.
bool is_processor_supported() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

// Beside this library or program, or where libraries of the programs beside it are.
void* open_library(std::string& error) {
    std::vector<std::filesystem::path> places;
    Dl_info own{};
    if (dladdr(reinterpret_cast<const void*>(&mode_of_environment), &own) != 0 && own.dli_fname != nullptr) {
        std::error_code ignored;
        auto path = std::filesystem::canonical(own.dli_fname, ignored);
        if (ignored) path = std::filesystem::read_symlink("/proc/self/exe", ignored);
        const auto folder = path.parent_path();
        for (const char* relative : {".", "../lib", "../lib64", "../lib/x86_64-linux-gnu"})
            places.push_back(folder / relative / "libtrimtab_jit.so");
    }
    places.emplace_back("libtrimtab_jit.so");
    for (const auto& place : places) {
        if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) {
            const auto hash = reinterpret_cast<HashFunction>(dlsym(library, hash_symbol));
            if (hash != nullptr && std::string_view(hash()) == TRIMTAB_CODE_HASH) return library;
            error = place.string() + " is of another version of Trimtab";
            dlclose(library);
            continue;
        }
        if (const char* why = dlerror(); why != nullptr && (error.empty() || std::filesystem::exists(place)))
            error = why;
    }
    return nullptr;
}

CompileFunction compiler() {
    static const CompileFunction found = []() -> CompileFunction {
        std::string error;
        void* library = open_library(error);
        if (library == nullptr) {
            if (!is_log_level("off")) say("kernels are interpreted, not compiled: " + error);
            return nullptr;
        }
        return reinterpret_cast<CompileFunction>(dlsym(library, compile_symbol));
    }();
    return found;
}

// What `f` does, if nothing is thrown.
template <class F>
void let_nothing_through(Warp* w, const F& f) noexcept {
    try {
        f();
    } catch (...) {
        w->worker->fault_of_exception();
        w->stop = Warp::Stop::fault;
    }
}

const Op* run_ops(Warp* w, const Op* first, const Op* end) noexcept {
    const Op* op = nullptr;
    let_nothing_through(w, [&] {
        if (w->settled != w->index) w->block->settle(*w);
        const Op* at = first;
        while (at >= first && at < end) at = at->run(*w, at);
        op = at;
    });
    return op;
}

void count_region(Warp* w, const Op* op) noexcept {
    let_nothing_through(w, [&] { (void)run::count_region(*w, op); });
}

void touch(Warp* w, std::uint32_t slot) noexcept {
    let_nothing_through(w, [&] { w->touched.push_back(slot); });
}

void count_span(Warp* w, const Op* op, std::uint64_t first, std::uint64_t end) noexcept {
    let_nothing_through(w, [&] { count_request(*w, op, first, end); });
}

void count_runs(Warp* w, const Op* op, std::uint32_t run_lanes, std::uint64_t span) noexcept {
    let_nothing_through(w, [&] { count_request(*w, op, run_lanes, span); });
}

void count_lanes(Warp* w, const Op* op, std::uint32_t lanes) noexcept {
    let_nothing_through(w, [&] { count_request(*w, op, lanes); });
}

void insert_window(Warp* w, std::uint64_t window, std::uint64_t bits) noexcept {
    let_nothing_through(w, [&] { emulator::insert_window(*w, window, bits); });
}

void count_far_load(Warp* w, const Op* op, std::uint32_t number) noexcept {
    let_nothing_through(w, [&] { emulator::count_far_load(*w, op, number); });
}

std::uint32_t pass_on(Warp* w) noexcept {
    bool has_more = false;
    let_nothing_through(w, [&] { has_more = w->block->pass_on(*w); });
    return has_more ? 1 : 0;
}

}  // namespace

const Services& services() {
    static const Services made{
        &run_ops,        &count_region,  &touch,   &count_span,     &count_lanes,      &count_runs,
        &count_far_load, &insert_window, &pass_on, &save_registers, &restore_registers};
    return made;
}

std::uint64_t layout_hash() {
    const WarpLayout layout = warp_layout();
    const std::size_t more[] = {sizeof(CachedRange),
                                sizeof(Op),
                                offsetof(Op, imm),
                                offsetof(Op, c),
                                sizeof(SlotCount),
                                sizeof(InstructionCount),
                                sizeof(Services),
                                sizeof(LastRequests::Request),
                                offsetof(LastRequests, requests)};
    return XXH3_64bits(&layout, sizeof layout) ^ (XXH3_64bits(more, sizeof more) << 1);
}

Mode mode_of_environment() {
    const char* given = secure_getenv("TRIMTAB_EMULATOR");
    const std::string_view mode = given == nullptr ? "" : given;
    if (mode == "compiled") return Mode::compiled;
    return mode == "interpreter" ? Mode::interpreter : Mode::automatic;
}

Variant::Variant(const Program& program, const CompiledKernel& kernel, const KernelCode& code,
                 LanePatterns lanes)
    : program_(program),
      kernel_(kernel),
      code_(code),
      lanes_(lanes),
      worth_compiling_(
          std::max(worth_compiling_least, worth_compiling_one * kernel.info().instruction_count)),
      handlers_(std::make_unique<std::atomic<Handler>[]>(code.functions.size())) {
    done_ = kernel.info().instruction_count > most_instructions;
    if (kernel.info().instruction_count <= most_for_long_runs) {
        for (const auto& function : code.functions)
            if (function->source->body.size() > most_in_registers) done_for_long_runs_ = false;
    }
}

// Also of the ops: compiled code knows where they are.
std::string Variant::key(bool is_for_long_runs) const {
    XXH3_state_t* state = XXH3_createState();
    XXH3_64bits_reset(state);
    const auto add = [state](const void* data, std::size_t size) { XXH3_64bits_update(state, data, size); };
    for (const auto& function : code_.functions) {
        const std::size_t sizes[] = {function->ops.size(), function->register_bytes};
        add(sizes, sizeof sizes);
        for (const auto* places :
             {&function->first_op, &function->join_op, &function->entry_op, &function->registers})
            add(places->data(), places->size() * sizeof(std::uint32_t));
        for (const Op& op : function->ops) {
            const std::uint64_t words[] = {op.d, op.a, op.b, op.c, op.index, op.cost};
            add(words, sizeof words);
        }
    }
    const bool counted = code_.is_counted();
    add(&counted, sizeof counted);
    for (const LanePattern& pattern : lanes_.tid) {
        add(&pattern.known, sizeof pattern.known);
        add(pattern.offset.data(), sizeof pattern.offset);
    }
    const std::uint64_t own = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return fmt::format("{}-{:016x}-{:016x}-{}-{}{}", ptx::kernel_hash(program_.module(), kernel_.function()),
                       own, layout_hash(), processor_hash(), TRIMTAB_CODE_HASH,
                       is_for_long_runs ? "-long" : "");
}

std::string Variant::install(std::span<const std::byte> object) {
    auto loaded = LoadedCode::load(object);
    if (!loaded) return loaded.error().text();
    const LoadedCode& made = *loaded_.emplace_back(std::move(*loaded));
    for (std::size_t i = 0; i < code_.functions.size(); i++) {
        // The one way from data to code that C++ has.
        const auto code =
            reinterpret_cast<Handler>(reinterpret_cast<std::uintptr_t>(made.symbol("f" + std::to_string(i))));
        handlers_[i].store(code, std::memory_order_release);
    }
    return "";
}

bool Variant::take_from_cache() {
    const CodeCache cache = CodeCache::of_environment();
    if (!done_for_long_runs_) {
        const auto object = cache.find(key(true));
        if (object && install(*object).empty()) {
            done_for_long_runs_ = true;
            return true;
        }
    }
    const auto object = cache.find(key(false));
    return object && install(*object).empty();
}

void Variant::compile(bool is_for_long_runs) {
    const CompileFunction compile_now = compiler();
    if (compile_now == nullptr) return;
    CompileRequest request{&code_, lanes_, is_for_long_runs};
    CompiledObject object;
    std::string error;
    try {
        compile_now(&request, &object);
        error = object.error;
        if (error.empty()) error = install(object.bytes);
        if (error.empty()) CodeCache::of_environment().keep(key(is_for_long_runs), object.bytes);
    } catch (const std::exception& thrown) {
        error = thrown.what();
    }
    if (!error.empty() && is_log_level("debug"))
        say(fmt::format("kernel {} is interpreted: {}", kernel_.function().name, error));
}

void Variant::ran(std::uint64_t warp_instructions) {
    const bool done = done_.load(std::memory_order_acquire);
    if (done && done_for_long_runs_.load(std::memory_order_acquire)) return;
    const std::uint64_t total = executed_.fetch_add(warp_instructions) + warp_instructions;
    if (done) {
        if (total < long_run * worth_compiling_ || done_for_long_runs_.exchange(true)) return;
        const std::lock_guard lock(mutex_);
        compile(true);
        return;
    }
    if (total < worth_a_look) return;
    if (!looked_up_.exchange(true)) {
        const std::lock_guard lock(mutex_);
        if (!done_ && take_from_cache()) done_ = true;
    }
    if (total < worth_compiling_ || done_.exchange(true)) return;
    const std::lock_guard lock(mutex_);
    compile(false);
}

void Variant::prepare() {
    const std::lock_guard lock(mutex_);
    if (done_.exchange(true)) return;
    looked_up_ = true;
    if (!take_from_cache()) compile(false);
}

Variant* KernelVariants::of(const KernelCode& code, const trimtab_dim3& block) {
    const Mode mode = mode_of_environment();
    if (mode == Mode::interpreter || !is_processor_supported()) return nullptr;
    const std::lock_guard lock(mutex_);
    const LanePatterns lanes = lane_patterns(block);
    std::unique_ptr<Variant>& variant = variants_[{code.is_counted(), lanes}];
    if (variant == nullptr) variant = std::make_unique<Variant>(program_, kernel_, code, lanes);
    if (mode == Mode::compiled) variant->prepare();
    return variant.get();
}

}  // namespace trimtab::emulator::jit
