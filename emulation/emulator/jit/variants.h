// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiled code of a kernel: one variant for each way in which its blocks' threads lie in warps, made
// when it has run long enough to be worth it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "emulation/emulator/exec/code.h"
#include "emulation/emulator/exec/op.h"
#include "emulation/emulator/jit/lane_pattern.h"
#include "emulation/emulator/jit/loaded_code.h"

namespace trimtab::emulator {
class Program;
}

namespace trimtab::emulator::jit {

// TRIMTAB_EMULATOR: how kernels run that nobody observes.
enum class Mode : std::uint8_t {
    interpreter,  // never compiled
    automatic,    // once they have run for a while
    compiled      // from the first instruction on
};
[[nodiscard]] Mode mode_of_environment();

class Variant {
  public:
    Variant(const Program& program, const CompiledKernel& kernel, const KernelCode& code, LanePatterns lanes);

    // By function; those that are not compiled, or not yet, are null.
    [[nodiscard]] const std::atomic<Handler>* handlers() const { return handlers_.get(); }
    // Warp instructions of it have been run. Compiles it, or takes it from the cache, once that pays; large
    // ones a second time, for long runs.
    void ran(std::uint64_t warp_instructions);
    void prepare();  // now

  private:
    [[nodiscard]] std::string key(bool is_for_long_runs) const;
    [[nodiscard]] bool take_from_cache();
    void compile(bool is_for_long_runs);
    [[nodiscard]] std::string install(std::span<const std::byte> object);  // "": it worked

    const Program& program_;
    const CompiledKernel& kernel_;
    const KernelCode& code_;
    const LanePatterns lanes_;
    const std::uint64_t worth_compiling_;  // warp instructions
    std::unique_ptr<std::atomic<Handler>[]> handlers_;
    std::vector<std::unique_ptr<LoadedCode>> loaded_;  // all: warps may be in any of them
    std::atomic<std::uint64_t> executed_ = 0;
    std::atomic<bool> looked_up_ = false, done_ = false, done_for_long_runs_ = true;
    std::mutex mutex_;
};

class KernelVariants {
  public:
    KernelVariants(const Program& program, const CompiledKernel& kernel)
        : program_(program), kernel_(kernel) {}
    // nullptr: kernels are interpreted.
    [[nodiscard]] Variant* of(const KernelCode& code, const trimtab_dim3& block);

  private:
    const Program& program_;
    const CompiledKernel& kernel_;
    std::mutex mutex_;
    std::map<std::pair<bool, LanePatterns>, std::unique_ptr<Variant>> variants_;  // counted?
};

}  // namespace trimtab::emulator::jit
