// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which bytes of a kernel's arguments tell two launches apart, and the parameter buffer made of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "choosing/launch_shape.h"
#include "core/analysis/launches/description.h"

namespace trimtab::choosing {

// Two launches with equal keys get the same choice. In the key: the launch's shape, the device, the data
// parameters that the description puts in the memo (some by power-of-two bucket), and, exactly, every
// argument that a guard, a grid-stride loop or an annotation reads, for on these the legality of a block
// depends.
class ArgumentKey {
  public:
    static constexpr std::size_t shape_words = 5;
    static constexpr std::size_t max_words = 64;

    ArgumentKey() = default;
    // `bodies`: others that the launch may become, which take the same parameters.
    explicit ArgumentKey(const analysis::KernelDescription& description,
                         const std::vector<const analysis::KernelDescription*>& bodies = {});

    // Words of a key; 0: the kernel has too many arguments to remember choices for.
    [[nodiscard]] std::size_t words() const { return words_; }
    [[nodiscard]] bool reads_arguments() const { return !fields_.empty(); }
    // Writes words() words. `shape.arguments` is not null if reads_arguments().
    void write(const LaunchShape& shape, std::uint32_t device, std::uint64_t* out) const {
        out[0] = shape.written.grid.x | static_cast<std::uint64_t>(shape.written.grid.y) << 32;
        out[1] = shape.written.grid.z | static_cast<std::uint64_t>(device) << 32;
        out[2] = shape.written.block.x | static_cast<std::uint64_t>(shape.written.block.y) << 32;
        out[3] = shape.written.block.z;
        out[4] = shape.written.dynamic_shared_bytes;
        out += shape_words;
        for (const Field& field : fields_) *out++ = value(field, shape.arguments);
    }

    // What of a key holds in other processes too: neither which of this process's devices it is, nor where
    // arrays lie, on which the legality of a choice may depend but not its worth.
    void make_portable(std::span<std::uint64_t> key) const;

  private:
    enum class Bucket : std::uint8_t { exact, unsigned_power_of_two, signed_power_of_two };
    struct Field {
        std::uint32_t parameter = 0, offset = 0, size = 0;
        Bucket bucket = Bucket::exact;
        bool is_address = false;
    };

    [[nodiscard]] static std::uint64_t value(const Field& field, void* const* arguments);
    void add_all(const analysis::KernelDescription& description);
    void add(const analysis::KernelDescription& description, std::uint32_t parameter, std::uint32_t offset,
             std::uint32_t size, Bucket bucket);
    void add_leaves(const analysis::KernelDescription& description, const analysis::Expression& expression);

    std::vector<Field> fields_;
    std::size_t words_ = 0;
};

// The parameter buffer of a launch, by the description's offsets. Empty arguments give zeros.
[[nodiscard]] std::vector<std::byte> argument_bytes(const analysis::KernelDescription& description,
                                                    void* const* arguments);

}  // namespace trimtab::choosing
