// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel description: the contract between analysis, profiler, driver_gen, runtime and tools. Its JSON is
// docs/description.schema.json.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/launches/expression.h"
#include "trimtab/driver.h"
#include "trimtab/error.h"

namespace trimtab::analysis {

inline constexpr unsigned description_abi = 2;

struct KernelImage {
    std::string architecture;     // "sm_75"
    std::uint32_t registers = 0;  // per thread
    std::string registers_from;   // "ptxas sm_75", "ptxas sm_75 (proxy for sm_61)", "estimated from PTX"
    std::uint32_t shared_bytes = 0, local_bytes = 0;
    // A block, from launch bounds and from slots of threads in shared memory; 0: no limit.
    std::uint32_t max_threads = 0;
};

// An address inside a struct parameter.
struct PointerMember {
    std::uint32_t offset = 0;  // in the parameter
    std::string pointee;       // as of a KernelParameter

    friend bool operator==(const PointerMember&, const PointerMember&) = default;
};

struct KernelParameter {
    std::uint32_t index = 0;
    std::string name;  // the source's where known, else "param_<index>"
    std::uint32_t offset = 0, size = 0;
    std::string type;      // the source's where known ("const float *", "int"), else PTX's ("u64", "b8[24]")
    std::string ptx_type;  // "u32"; "b8" for an aggregate
    bool is_pointer = false;
    std::string pointee;  // of a pointer, where known: "float", "int", "double", "float4"; may be empty
    std::vector<PointerMember>
        members{};  // of a struct: those through which the kernel goes and whose type it tells
};

// One member of D. Either a scalar (a parameter, or bytes inside a struct parameter), or the launch's thread
// extent in a dimension.
struct DataParameter {
    std::string name;  // "NI", "args+8", "extent.x"
    bool is_extent = false;
    Dimension dimension = Dimension::x;
    std::uint32_t parameter = 0, offset = 0;
    std::string type;             // "s32", "u64", "f32"
    bool in_memo = true;          // false: it only offsets an address (a time step, a plane)
    bool coarse_in_memo = false;  // a bound that only shortens a triangular loop: memo by power-of-two bucket
    // The dimension whose guard compares its global index with this value (j < NJ): the profile ties it to
    // that extent.
    std::optional<Dimension> bounds;
    bool divides = false;  // indices are taken apart by it: it is a dimension of an array
    bool counts = false;   // it decides how often loops run, and scales no index: it is none
    // Numbers that it is tested for, ascending, but for those of small modes (below 4).
    std::vector<std::uint32_t> compared{};
};

// A condition that, where true, takes every thread to exit with no memory access, call, trap or unbounded
// loop.
struct Guard {
    Dimension dimension = Dimension::x;  // the dimension that it guards
    Expression exits;                    // pred, over g of that dimension and arguments
    std::string source;                  // "gemm.cu:14", may be empty
};

// for (i = g; i < n; i += total) in one dimension. The global index stands for i.
struct GridStrideLoop {
    Dimension dimension = Dimension::x;
    std::vector<Expression> exits;  // preds: its tests of i, each true from the bound on
    std::string source;             // may be empty
    // for (r = blockIdx; r < n; r += gridDim), where the grid stays: the block index of addresses stands for
    // r, and the global index of `exits` as well.
    bool is_of_rows = false;
};
inline constexpr std::size_t most_numbered_loops = 64;
// Memory that the iterations of such loops touch, of kernels whose total is free where they do not meet there.
struct GridStrideAccess {
    Expression address;  // 64 bits
    std::uint32_t bytes = 0;
    bool writes = false;
    std::string reduction;  // of an atomic without a result: two of one name meet without harm
    // By dimension: not of an iteration, but of the thread of index 0 alone.
    std::array<bool, 3> once{};
    // A bit for each phase of a block that it may be of: where two have none in common, barriers keep them
    // apart.
    std::uint64_t phases = ~std::uint64_t{0};
    // A bit for each of the loops over threads (KernelDescription::strides) that it is in: in their dimensions its index is
    // one of theirs. None: any index.
    std::uint64_t loops = 0;

    friend bool operator==(const GridStrideAccess&, const GridStrideAccess&) = default;
};

// One of several bodies of a kernel, each with its own block's size built in (TRIMTAB_VARIANTS).
struct Variant {
    std::string of;          // what its bodies have in common: the template's name
    std::int32_t value = 0;  // "variant" in annotations

    friend bool operator==(const Variant&, const Variant&) = default;
};

// How a kernel goes over one dimension of its launches. It says what "g" is there, and what an extent counts.
enum class Index : std::uint8_t {
    none,      // not read: one thread, as written and after
    global,    // g is the global index, the extent counts threads
    of_total,  // the same, and their number is read: it stays as it is, unless `strides` says otherwise
    in_block   // loops over a block's threads, for (k = threadIdx.d; k < n; k += blockDim.d): g is threadIdx,
               // "row" is blockIdx, the grid stays as written, and the extent counts blocks
};
// In each dimension of a launch, as written and after: the proof takes it for granted.
inline constexpr unsigned max_blocks_in_dimension = 0xffffff;
inline constexpr unsigned warp_size = 32;  // of every GPU that there is; descriptions take it for granted
inline constexpr unsigned most_block_threads = 1024;  // of every GPU that there is
enum class BlockWidth : std::uint8_t {
    any,
    one,    // as written, and after: blockIdx is read, and threadIdx is not
    warps,  // whole warps, as written and after: what each warp does is its own, or what the block's warps
            // tell each other comes out the same
    powers  // the same of powers of two alone
};
struct DimensionUse {
    Index index = Index::none;
    BlockWidth block = BlockWidth::any;
    friend bool operator==(const DimensionUse&, const DimensionUse&) = default;
};

enum class Verdict : std::uint8_t {
    covering,   // any block whose covering grid the guards admit, checked at launch with the actual arguments
    dividing,   // only blocks that divide the extent exactly
    annotated,  // as the user's annotation says
    fixed       // left alone
};
[[nodiscard]] std::string_view name(Verdict verdict);

struct Reason {
    unsigned rule = 0;   // 1 to 7, of docs/legality.md
    std::string source;  // "gemm.cu:14", else "ptx:120"
    std::string text;    // one sentence: what stands in the way, and what the user could do
};

struct KernelDescription {
    std::string id;    // ptx::kernel_hash
    std::string name;  // mangled
    std::string demangled;
    std::string source;  // "file:line" of its definition; may be empty
    std::optional<Variant> variant;
    std::vector<KernelImage> images;
    std::vector<KernelParameter> parameters;
    std::array<DimensionUse, 3> dimensions{};
    std::vector<DataParameter> data;
    std::vector<Guard> guards;
    // In dimensions of Index::of_total the loops that the total does no more than stride, none where it may
    // do more; in those of Index::in_block the loops over a block's threads. Whether another number of
    // threads is legal in a launch is for free_totals() to say.
    std::vector<GridStrideLoop> strides;
    std::vector<GridStrideAccess> stride_accesses;
    // Iterations also touch memory at places that are not known beforehand. Where each thread of the launch as
    // written makes one iteration at most, two iterations that meet there are a race.
    bool needs_one_iteration_a_thread = false;
    // That a block must have, as written and after, for its first threads to do what is done for all; 0: any.
    std::uint32_t least_threads = 0;
    // Memory that any two threads of a launch must be shown to touch apart, if one of them writes there:
    // barriers were taken for nothing. See indices_are_apart().
    std::vector<GridStrideAccess> apart;
    Verdict verdict = Verdict::fixed;
    bool race_free_proved = false;  // else assumed
    bool uses_float_atomics = false;
    bool may_reassociate = false;  // of annotations: results may differ as sums in another order round
    std::vector<Reason> reasons;   // empty only for covering
    // Of annotations, the grid of Index::in_block too (core/analysis/annotations/annotated_launch.h evaluates them): a
    // predicate of the block, the bytes of dynamic shared memory, the grid.
    std::optional<Expression> annotated_block, annotated_shared;
    std::array<std::optional<Expression>, 3> annotated_grid;

    [[nodiscard]] std::vector<std::uint32_t> parameter_offsets() const;
    [[nodiscard]] bool reads(std::size_t d) const { return dimensions[d].index != Index::none; }
    [[nodiscard]] bool reads_total(std::size_t d) const { return dimensions[d].index == Index::of_total; }
    [[nodiscard]] bool grid_stays(std::size_t d) const { return dimensions[d].index == Index::in_block; }
    [[nodiscard]] bool keeps_grid() const { return grid_stays(0) || grid_stays(1) || grid_stays(2); }
    // Blocks are of whole warps there, as written and after.
    [[nodiscard]] bool is_of_warps(std::size_t d) const {
        return dimensions[d].block == BlockWidth::warps || dimensions[d].block == BlockWidth::powers;
    }
    // Has blocks of other sizes to choose from.
    [[nodiscard]] bool varies(std::size_t d) const {
        return reads(d) && dimensions[d].block != BlockWidth::one;
    }
    // The threads of a launch in each dimension; its blocks, where the grid stays as written.
    [[nodiscard]] std::array<std::uint64_t, 3> counted_extent(trimtab_dim3 grid, trimtab_dim3 block) const;
    [[nodiscard]] std::optional<std::size_t> data_index(std::string_view name) const;
};

[[nodiscard]] nlohmann::json to_json(const KernelDescription& description);
[[nodiscard]] std::expected<KernelDescription, Error> description_from_json(const nlohmann::json& json,
                                                                            const std::string& origin);

// D at one launch, in order of `description.data`, as doubles.
[[nodiscard]] std::vector<double> data_values(const KernelDescription& description, ArgumentBytes arguments,
                                              const std::array<std::uint64_t, 3>& extent);

}  // namespace trimtab::analysis
