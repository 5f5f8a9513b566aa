// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/trimtab/code_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace trimtab::tools {
namespace {

using Json = nlohmann::ordered_json;

// Every reached block once: what the code holds.
struct StaticCode {
    sass::ControlFlow flow;
    sass::Execution holds;
    explicit StaticCode(const sass::Function& function) : flow(sass::control_flow(function)) {
        std::vector<double> once;
        for (const bool reached : flow.reachable) once.push_back(reached ? 1 : 0);
        holds = sass::execution(function, flow, once, 1);
    }
};

// "saxpy.cu:7" of a line of the PTX, else "".
std::string source_of(const ptx::Module& module, std::uint32_t line) {
    for (const ptx::Function& function : module.functions)
        for (const ptx::Instruction& i : function.body)
            if (i.line == line) return module.source_text(i.location);
    return "";
}

struct LoopExtent {
    std::uint32_t first = 0, last = 0, instructions = 0, global_loads = 0;  // addresses: [first, last)
    std::uint32_t line = 0;
};

LoopExtent extent_of(const sass::Function& function, const sass::ControlFlow& flow, const sass::Loop& loop) {
    LoopExtent out{.first = 0xffffffffu};
    for (const sass::BlockIndex b : loop.blocks) {
        const sass::Block& block = flow.blocks[b];
        out.first = std::min(out.first, function.address_of(block.first));
        out.last = std::max(out.last, function.address_of(block.last));
        out.instructions += block.last - block.first;
        for (std::uint32_t i = block.first; i < block.last; ++i)
            out.global_loads +=
                function.instructions[i].is_global() && function.instructions[i].is_load() ? 1u : 0u;
    }
    out.line = function.instructions[flow.blocks[loop.header].first].line;
    return out;
}

std::string pipes_text(const sass::Execution& e) {
    std::string out;
    for (std::size_t p = 0; p < sass::pipe_count; ++p)
        if (e.by_pipe[p] > 0)
            out += fmt::format("{}{} {:.4g}", out.empty() ? "" : ", ", sass::name(static_cast<sass::Pipe>(p)),
                               e.by_pipe[p]);
    return out;
}

Json pipes_json(const sass::Execution& e) {
    Json out = Json::object();
    for (std::size_t p = 0; p < sass::pipe_count; ++p)
        out[std::string(sass::name(static_cast<sass::Pipe>(p)))] = e.by_pipe[p];
    return out;
}

std::string size_text(const sass::Assembly& assembly, const sass::Execution& holds) {
    std::string out =
        fmt::format("  code       {}: {:.0f} instructions, {} bytes; {} registers, {} bytes shared\n",
                    assembly.architecture, holds.instructions, assembly.function.code_bytes(),
                    assembly.resources.registers_per_thread, assembly.resources.static_shared_bytes);
    out += fmt::format("  holds      {}\n", pipes_text(holds));
    if (holds.local_loads + holds.local_stores > 0 || assembly.resources.local_bytes_per_thread > 0)
        out += fmt::format("  local      {} bytes a thread: {:.0f} loads, {:.0f} stores\n",
                           assembly.resources.local_bytes_per_thread, holds.local_loads, holds.local_stores);
    return out;
}

std::string loops_text(const sass::Function& function, const sass::ControlFlow& flow,
                       const ptx::Module& module, const sass::Match* match) {
    std::string out;
    for (std::uint32_t l = 0; l < flow.loops.size(); ++l) {
        const LoopExtent extent = extent_of(function, flow, flow.loops[l]);
        const std::string source = source_of(module, extent.line);
        out +=
            fmt::format("  loop       {:{}}{:#x} to {:#x}: {} instructions, {} global loads; PTX line {}{}",
                        "", 2 * (flow.loops[l].depth - 1), extent.first, extent.last, extent.instructions,
                        extent.global_loads, extent.line, source.empty() ? "" : " (" + source + ")");
        if (match != nullptr) {
            const sass::LoopMatch& found = match->loops[l];
            out += found.line == 0 ? "; matches no loop of the PTX"
                                   : fmt::format("; {:.0f} iteration{} of the PTX's at once", found.copies,
                                                 found.copies == 1 ? "" : "s");
            if (found.entries > 0)
                out += fmt::format(", {:.4g} iterations per entry", found.iterations / found.entries);
        }
        out += "\n";
    }
    return out;
}

Json loops_json(const sass::Function& function, const sass::ControlFlow& flow, const ptx::Module& module,
                const sass::Match* match) {
    Json out = Json::array();
    for (std::uint32_t l = 0; l < flow.loops.size(); ++l) {
        const LoopExtent extent = extent_of(function, flow, flow.loops[l]);
        Json loop = {{"first", extent.first},
                     {"end", extent.last},
                     {"depth", flow.loops[l].depth},
                     {"instructions", extent.instructions},
                     {"global_loads", extent.global_loads},
                     {"ptx_line", extent.line},
                     {"source", source_of(module, extent.line)}};
        if (match != nullptr) {
            const sass::LoopMatch& found = match->loops[l];
            loop["matched"] = found.line != 0;
            loop["copies"] = found.copies;
            loop["entries"] = found.entries;
            loop["iterations"] = found.iterations;
        }
        out.push_back(std::move(loop));
    }
    return out;
}

Json size_json(const sass::Assembly& assembly, const sass::Execution& holds) {
    return {{"architecture", assembly.architecture},
            {"instructions", holds.instructions},
            {"code_bytes", assembly.function.code_bytes()},
            {"registers", assembly.resources.registers_per_thread},
            {"shared_bytes", assembly.resources.static_shared_bytes},
            {"local_bytes", assembly.resources.local_bytes_per_thread},
            {"local_loads", holds.local_loads},
            {"local_stores", holds.local_stores},
            {"by_pipe", pipes_json(holds)}};
}

std::string_view name(sass::CountedBy by) {
    switch (by) {
        case sass::CountedBy::lines:
            return "lines";
        case sass::CountedBy::flow:
            return "flow";
        case sass::CountedBy::guess:
            return "guess";
        case sass::CountedBy::nothing:
            return "nothing";
    }
    return "";
}

}  // namespace

std::string code_text(const sass::Assembly& assembly, const ptx::Module& module) {
    const StaticCode code(assembly.function);
    return size_text(assembly, code.holds) + loops_text(assembly.function, code.flow, module, nullptr);
}

std::string code_text(const sass::CountedCode& code, const ptx::Module& module) {
    const sass::Execution& warp = code.warp;
    std::string out = size_text(code.assembly, StaticCode(code.assembly.function).holds);
    out += loops_text(code.assembly.function, code.flow, module, &code.match);
    out += fmt::format("  a warp     {:.5g} instructions ({}), no fewer than {:.5g} cycles\n",
                       warp.instructions, pipes_text(warp), warp.issue_cycles);
    out += fmt::format(
        "             waits for memory {:.4g} times, {:.3g} loads in flight; spills {:.4g} loads, {:.4g} "
        "stores\n",
        warp.memory_waits, warp.loads_in_flight(), warp.local_loads, warp.local_stores);
    out += fmt::format("  matched    {:.0f} % of what runs, {:.4g} of the PTX's {:.4g} bytes accessed\n",
                       code.match.counted_share * 100, code.match.sass_bytes, code.match.ptx_bytes);
    return out;
}

Json code_json(const sass::Assembly& assembly, const ptx::Module& module) {
    const StaticCode code(assembly.function);
    Json out = size_json(assembly, code.holds);
    out["loops"] = loops_json(assembly.function, code.flow, module, nullptr);
    return out;
}

Json code_json(const sass::CountedCode& code, const ptx::Module& module) {
    Json out = size_json(code.assembly, StaticCode(code.assembly.function).holds);
    out["loops"] = loops_json(code.assembly.function, code.flow, module, &code.match);
    Json blocks = Json::array();
    for (sass::BlockIndex b = 0; b < code.flow.blocks.size(); ++b) {
        const sass::Block& block = code.flow.blocks[b];
        blocks.push_back({{"first", code.assembly.function.address_of(block.first)},
                          {"instructions", block.last - block.first},
                          {"executions", code.match.executions[b]},
                          {"by", name(code.match.by[b])}});
    }
    out["blocks"] = std::move(blocks);
    const sass::Execution& warp = code.warp;
    out["warp"] = {{"instructions", warp.instructions},         {"by_pipe", pipes_json(warp)},
                   {"issue_cycles", warp.issue_cycles},         {"memory_waits", warp.memory_waits},
                   {"loads_in_flight", warp.loads_in_flight()}, {"local_loads", warp.local_loads},
                   {"local_stores", warp.local_stores}};
    out["matched"] = {{"share", code.match.counted_share},
                      {"ptx_bytes", code.match.ptx_bytes},
                      {"sass_bytes", code.match.sass_bytes},
                      {"trusted", code.is_trusted()}};
    return out;
}

}  // namespace trimtab::tools
