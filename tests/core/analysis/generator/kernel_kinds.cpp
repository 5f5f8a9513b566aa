// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator/kernel_kinds.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "cuda_compiler.h"
#include "generator/random_cuda.h"
#include "generator/random_kernel.h"

namespace trimtab::analysis::test {

const char* const portable_cuda_prelude = R"(
#ifdef __clang__
#define ADD(p, v) __nvvm_atom_add_gen_i(p, v)
#define MAX(p, v) __nvvm_atom_max_gen_i(p, v)
#define OR(p, v) __nvvm_atom_or_gen_i(p, v)
#define MAXU(p, v) __nvvm_atom_max_gen_ui((unsigned*)(p), v)
#define EXCHANGE(p, v) __nvvm_atom_xchg_gen_i(p, v)
#define SHUFFLE_XOR(v, by) __nvvm_shfl_sync_bfly_i32(~0u, v, by, 31)
#define SHUFFLE_DOWN(v, by) __nvvm_shfl_sync_down_i32(~0u, v, by, 31)
#define SHUFFLE_XORF(v, by) __nvvm_shfl_sync_bfly_f32(~0u, v, by, 31)
#define SHUFFLE_DOWNF(v, by) __nvvm_shfl_sync_down_f32(~0u, v, by, 31)
#define LARGER(a, b) __builtin_fmaxf(a, b)
#define SMALLER(a, b) __builtin_fminf(a, b)
#define INFINITE __builtin_huge_valf()
#else
#define ADD(p, v) atomicAdd(p, v)
#define MAX(p, v) atomicMax(p, v)
#define OR(p, v) atomicOr(p, v)
#define MAXU(p, v) atomicMax((unsigned*)(p), (unsigned)(v))
#define EXCHANGE(p, v) atomicExch(p, v)
#define SHUFFLE_XOR(v, by) __shfl_xor_sync(~0u, v, by)
#define SHUFFLE_DOWN(v, by) __shfl_down_sync(~0u, v, by)
#define SHUFFLE_XORF(v, by) __shfl_xor_sync(~0u, v, by)
#define SHUFFLE_DOWNF(v, by) __shfl_down_sync(~0u, v, by)
#define LARGER(a, b) fmaxf(a, b)
#define SMALLER(a, b) fminf(a, b)
#define INFINITE __int_as_float(0x7f800000)
#endif
#define BARRIER __syncthreads()
#define KEEP _Pragma("unroll 1")
template <class T> __device__ inline T least(T a, T b) { return a < b ? a : b; }
template <class T> __device__ inline T most(T a, T b) { return a > b ? a : b; }
)";

namespace {

using Write = std::string (*)(Draw& draw, const std::string& name);
constexpr std::uint64_t kernels_a_file = 40;

constexpr std::uint64_t first_cuda_seed = 1'000'000, first_portable_seed = 2'000'000;

enum class Compiler : std::uint8_t { clang, nvcc };

std::string compiled(Compiler compiler, const std::string& source, const std::string& flags) {
    const auto compile = [&] {
        return compiler == Compiler::nvcc ? compile_source_by_nvcc(source, flags)
                                          : compile_cuda(source, flags);
    };
    const char* const folder = std::getenv("TRIMTAB_GENERATED_KEPT");
    if (folder == nullptr) return compile();
    const std::filesystem::path kept =
        std::filesystem::path(folder) /
        fmt::format("{:016x}.ptx", std::hash<std::string>()(source + "\n" + flags +
                                                            (compiler == Compiler::nvcc ? " nvcc" : "")));
    if (std::filesystem::exists(kept)) return read_file(kept.string());
    std::string ptx = compile();
    if (ptx.empty()) return ptx;
    std::filesystem::create_directories(folder);
    // Several processes may do so at once.
    const std::filesystem::path part = kept.string() + fmt::format(".{}", std::hash<const void*>()(&ptx));
    std::ofstream(part) << ptx;
    std::filesystem::rename(part, kept);
    return ptx;
}

// Of one file after the other.
class Files {
  public:
    // Kernel `number` of the file, or none.
    template <class Compile>
    KernelText kernel(std::uint64_t number, const Compile& compile) {
        const std::uint64_t file = number / kernels_a_file;
        if (file != compiled_from_) {
            kernels_ = kernels_of(compile(file));
            compiled_from_ = file;
        }
        return kernels_.size() == kernels_a_file ? kernels_[number % kernels_a_file] : KernelText{};
    }

  private:
    std::uint64_t compiled_from_ = ~std::uint64_t{0};
    std::vector<KernelText> kernels_;
};

std::string source_of(std::uint64_t file, const char* prelude, std::uint64_t first_seed, Write write) {
    std::string source = prelude;
    for (std::uint64_t i = 0; i < kernels_a_file; i++) {
        Draw one(file * kernels_a_file + i + first_seed);
        source += write(one, fmt::format("k{}", i));
    }
    return source;
}

// Each kernel is tried as clang made it, and with instructions changed, `mutants` of each.
auto by_clang(Write write, std::uint64_t mutants, std::array<const char*, 4> levels) {
    return [=, files = std::make_shared<Files>()](Draw& draw, std::uint64_t seed) {
        KernelText kernel = files->kernel(seed / mutants, [&](std::uint64_t file) {
            return compiled(Compiler::clang, source_of(file, random_cuda_prelude, first_cuda_seed, write),
                            levels[file % levels.size()] + std::string(" -Wno-c++11-narrowing"));
        });
        for (std::uint64_t i = seed % mutants; i > 0 && !kernel.lines.empty(); i = i > 2 ? i - 2 : 0)
            mutate(kernel, draw);
        return kernel;
    };
}

// By clang or nvcc at any level, one in five with an instruction changed.
auto by_any_compiler(Write write, bool has_unrotated) {
    return [=, files = std::make_shared<Files>()](Draw& draw, std::uint64_t seed) {
        KernelText kernel = files->kernel(seed, [&](std::uint64_t file) {
            Draw how(file + 5'000'000);
            constexpr std::array levels = {"-O0", "-O1", "-O1", "-O2", "-O2", "-O3", "-O3", "-O3"};
            std::string level = how.of(levels);
            const bool is_unrotated = has_unrotated && how.chance(40);
            if (is_unrotated) level = "-O2 -mllvm -rotation-max-header-size=0";
            const std::string source = source_of(file, portable_cuda_prelude, first_portable_seed, write);
            return !is_unrotated && how.chance(25) && has_nvcc()
                       ? compiled(Compiler::nvcc, source, "-Xcicc " + level)
                       : compiled(Compiler::clang, source, level);
        });
        if (!kernel.lines.empty() && draw.chance(20)) mutate(kernel, draw);
        return kernel;
    };
}

KernelText changed_ptx(Draw& draw, std::uint64_t) {
    KernelText kernel = random_kernel(draw);
    if (draw.chance(50))
        for (unsigned i = 1 + draw.below(2); i > 0; i--) mutate(kernel, draw);
    return kernel;
}

// Of nvcc's code, or of another file of PTX.
auto changed_of_nvcc() {
    const char* const other = std::getenv("TRIMTAB_GENERATED_FROM");
    const std::string path =
        other != nullptr ? other
                         : std::string(TRIMTAB_SOURCE_DIR) + "/tests/core/analysis/data/typical.nvcc.ptx";
    return [originals = kernels_of(read_file(path)), least = other != nullptr ? 1u : 80u](Draw& draw,
                                                                                          std::uint64_t) {
        if (originals.size() < least) return KernelText{};
        KernelText kernel = draw.of(originals);
        for (unsigned i = 1 + draw.below(2); i > 0; i--) mutate(kernel, draw);
        return kernel;
    };
}

struct CudaKind {
    std::string_view name;
    Write write;
    std::uint64_t mutants = 0;  // by clang alone, with so many of each; 0: by any compiler
    std::array<const char*, 4> levels{};
    bool has_unrotated = false;  // some with loops that are tested first, as they are written
};
constexpr std::array<const char*, 4> optimised = {"-O3", "-O1", "-O3", "-O2"};
constexpr std::array<CudaKind, 9> cuda_kinds = {
    {{"cuda", random_cuda_kernel, 5, {"-O3", "-O1", "-O0", "-O2"}},
     {"blocks", random_block_kernel, 2, optimised},
     {"tables", random_table_kernel, 2, optimised},
     {"sums", random_sum_kernel, 2, optimised},
     {"loops", random_loops_kernel},
     {"planes", random_planes_kernel},
     {"exchanges", random_exchanges_kernel},
     {"setups", random_setups_kernel},
     {"near", random_near_miss, 0, {}, true}}};

}  // namespace

KernelSource::KernelSource(std::string_view kind) {
    if (kind == "ptx") make_ = changed_ptx;
    if (kind == "nvcc") make_ = changed_of_nvcc();
    for (const CudaKind& cuda : cuda_kinds) {
        if (cuda.name != kind) continue;
        if (cuda.mutants == 0)
            make_ = by_any_compiler(cuda.write, cuda.has_unrotated);
        else
            make_ = by_clang(cuda.write, cuda.mutants, cuda.levels);
        source_ = [cuda](std::uint64_t seed) {
            Draw one(cuda.mutants == 0 ? seed + first_portable_seed : seed / cuda.mutants + first_cuda_seed);
            return cuda.write(one, "kernel");
        };
    }
}

KernelText KernelSource::of_seed(std::uint64_t seed) const {
    Draw draw(seed);
    return make_(draw, seed);
}

TrialResult tried(KernelText& kernel, std::uint64_t seed, unsigned launches) {
    TrialResult result = try_blocks(kernel.text(), seed, launches);
    // What a register holds that nobody set, the checker does not take for any number.
    const bool is_refuted =
        result.outcome == Outcome::fixed && result.text.find("a bug in Trimtab") != std::string::npos;
    if (result.outcome != Outcome::different && result.outcome != Outcome::undefined && !is_refuted)
        return result;
    KernelText defined = with_initial_values(kernel);
    const TrialResult again = try_blocks(defined.text(), seed, launches);
    if (again.outcome == Outcome::different) kernel = std::move(defined);
    if (again.outcome != Outcome::unreadable) return again;
    result.outcome = Outcome::undefined;
    return result;
}

}  // namespace trimtab::analysis::test
