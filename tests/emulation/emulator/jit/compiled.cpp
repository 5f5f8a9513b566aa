// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/emulation/emulator/jit/compiled.h"

#include <cstdlib>
#include <numeric>
#include <span>
#include <sstream>

#include "emulation/emulator/jit/variants.h"
#include "tests/emulation/emulator/jit/random_kernel.h"

namespace trimtab::emulator::test {
namespace {

// Everything that was counted, a line each.
std::string text_of(const LaunchCounters& counters) {
    std::ostringstream text;
    for (std::size_t i = 0; i < instruction_class_count; i++) {
        const ClassCount& all = counters.by_class[i];
        const ClassCount& active = counters.active_by_class[i];
        text << name(static_cast<InstructionClass>(i)) << ' ' << all.warp << ' ' << all.thread << ' '
             << active.warp << ' ' << active.thread << '\n';
    }
    for (std::size_t i = 0; i < counters.instructions.size(); i++) {
        const InstructionCount& one = counters.instructions[i];
        text << "instruction " << i;
        for (const std::uint64_t count :
             {one.warp, one.thread, one.requests, one.sectors, one.lines, one.full_segments, one.fragments,
              one.partial_sectors, one.wavefronts, one.bytes, one.divergent})
            text << ' ' << count;
        text << '\n';
    }
    for (const std::uint64_t count :
         {counters.blocks, counters.warps, counters.active_blocks, counters.active_warps, counters.barriers,
          counters.branches, counters.divergent_branches, counters.idle_lanes, counters.dependent_rounds,
          counters.max_dependent_rounds, counters.max_warp_instructions, counters.block_sectors,
          counters.footprint_warps, counters.warp_sectors, counters.total_sectors})
        text << count << ' ';
    for (const std::uint64_t count : counters.group_sectors) text << count << ' ';
    for (const std::uint64_t count : counters.group_lines) text << count << ' ';
    return text.str();
}

}  // namespace

void Compiled::SetUp() {
    std::string pattern = (std::filesystem::temp_directory_path() / "trimtab-jit-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
    setenv("TRIMTAB_EMULATOR", "compiled", 1);
}

void Compiled::TearDown() {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("TRIMTAB_EMULATOR");
    std::filesystem::remove_all(folder_);
}

std::size_t Compiled::cached_objects() const {
    const auto folder = folder_ / "trimtab" / "code";
    if (!std::filesystem::exists(folder)) return 0;
    const auto begin = std::filesystem::directory_iterator(folder);
    return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator{}));
}

bool Compiled::is_compiled(Program& program, const char* kernel, const trimtab_dim3& block, bool counted) {
    const CompiledKernel* found = program.kernel(kernel);
    jit::Variant* variant = found->variants().of(found->code(counted), block);
    return variant != nullptr && variant->handlers()[0].load() != nullptr;
}

std::vector<std::uint32_t> outputs(const std::string& ptx, const char* mode, const trimtab_dim3& block,
                                   std::string* counters, std::uint32_t blocks) {
    setenv("TRIMTAB_EMULATOR", mode, 1);
    const auto program = load(ptx);
    return program == nullptr ? std::vector<std::uint32_t>()
                              : outputs_of(*program, block, 1, counters, blocks);
}

std::vector<std::uint32_t> outputs_of(Program& program, const trimtab_dim3& block, unsigned threads,
                                      std::string* counters, std::uint32_t blocks) {
    const std::size_t words = std::size_t{blocks} * block.x * block.y * random_kernel_outputs;
    // From the start of a line on: what a request touches is counted.
    struct alignas(128) Line {
        std::uint32_t words[32];
    };
    std::vector<Line> lines((words + 31) / 32), in_lines(input_words / 32);
    const std::span out(lines.front().words, words), in(in_lines.front().words, input_words);
    std::fill(out.begin(), out.end(), 0xdeadbeefu);
    std::iota(in.begin(), in.end(), 17u);
    HostMemory memory;
    const Parameters parameters(memory.add(lines), memory.add(in_lines), std::uint32_t{48});
    CountingPlan plan;
    if (counters != nullptr) plan = {.count = true, .footprints = true, .groups = {{0, 1}, {2}}};
    const LaunchResult result =
        run(program, memory, "random", {{blocks, 1, 1}, block, 0, threads}, parameters, plan);
    if (counters != nullptr) *counters = text_of(result.counters);
    return {out.begin(), out.end()};
}

std::string large_random_kernel() {
    for (std::uint32_t seed = 1;; seed++) {
        std::string ptx = random_kernel(seed, 25);
        const auto program = load(ptx);
        const std::uint32_t size =
            program == nullptr ? 0 : program->kernel("random")->info().instruction_count;
        if (size >= 400 && size <= 900) return ptx;
    }
}

const char* const scale = R"(
.version 7.8
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 data, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .b64 %d<4>;
    ld.param.u64 %d0, [data];
    ld.param.u32 %r0, [n];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    setp.ge.s32 %p, %r4, %r0;
    @%p bra done;
    mul.wide.s32 %d1, %r4, 4;
    add.s64 %d2, %d0, %d1;
    ld.global.u32 %r5, [%d2];
    mul.lo.s32 %r5, %r5, 3;
    st.global.u32 [%d2], %r5;
done:
    ret;
}
)";

std::string kernel_of(const std::string& body, const std::string& functions, const std::string& first) {
    return ".version 8.6\n.target sm_90\n.address_size 64\n" + functions +
           ".visible .entry random(.param .u64 out, .param .u64 in, .param .u32 n)\n{\n"
           ".reg .pred %p<6>; .reg .b32 %r<10>; .reg .b64 %d<6>; .shared .align 8 .b64 bar;\n"
           "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; ld.param.u32 %r9, [n];\n" +
           first +
           "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.s32 %r1, %r1, 64, %r0;\n"
           "mul.wide.u32 %d2, %r1, 4; add.s64 %d2, %d0, %d2;\n" +
           body + "\nst.global.u32 [%d2], %r2;\nret;\n}\n";
}

}  // namespace trimtab::emulator::test
