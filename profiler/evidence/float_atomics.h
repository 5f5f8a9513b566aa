// Which memory a launch adds floating-point numbers to by atomics: there alone the order of threads may show.
#pragma once

#include <unordered_map>

#include "emulator/exec/observer.h"
#include "ptx/types.h"

namespace trimtab::profiler {

class FloatAtomics : public emulator::LaunchObserver {
  public:
    // By address, as the kernel sees it, of one number: f32, f64, f16 or bf16. Of all launches so far.
    [[nodiscard]] const std::unordered_map<std::uint64_t, ptx::Type>& places() const { return places_; }

    [[nodiscard]] emulator::LaneAddresses::Shape accesses(emulator::Warp& w, const emulator::Op* op,
                                                          emulator::LaneAddresses::Shape shape) override;
    void grid_started() override {}
    void block_started(const emulator::Block&) override {}
    void block_finished(const emulator::Block&) override {}
    void fence(const emulator::Warp&) override {}
    void meets_barrier(const emulator::Warp&, const emulator::Op*, unsigned, std::uint32_t) override {}
    void barrier_completes(const emulator::Block&, unsigned, std::span<const std::uint32_t>) override {}
    void warp_synchronizes(emulator::Warp&, const emulator::Op*, emulator::OperandRef,
                           std::uint32_t) override {}
    void faults(emulator::Warp&, const emulator::Op*, emulator::Fault::Kind, unsigned,
                const std::string&) override {}

  private:
    std::unordered_map<std::uint64_t, ptx::Type> places_;
};

}  // namespace trimtab::profiler
