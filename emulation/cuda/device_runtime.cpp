// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/device_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulation/cuda/errors.h"

namespace trimtab::cuda {
namespace {

constexpr std::string_view error_name_function = "__cudaCDP2GetErrorName";
constexpr std::string_view error_text_function = "__cudaCDP2GetErrorString";
constexpr std::string_view set_conditional_function = "cudaGraphSetConditional";

// The handle is the address of the value.
constexpr std::string_view set_conditional = R"(
.visible .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)
{
    .reg .b32 %r<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [handle];
    ld.param.u32 %r1, [value];
    st.u32 [%rd1], %r1;
    ret;
}
)";

// A function from an error's code to a text.
std::string error_function(std::string_view name, const char* (*text_of)(cudaError_t)) {
    std::string texts;
    std::string choice;
    const auto add_text = [&](std::string_view variable, std::string_view text) {
        texts += fmt::format(".global .align 1 .b8 {}[{}] = {{", variable, text.size() + 1);
        for (const char character : text) texts += fmt::format("{}, ", static_cast<int>(character));
        texts += "0};\n";
    };
    const std::string unknown = fmt::format("{}_unknown", name);
    add_text(unknown, "unrecognized error code");
    for (const cudaError_t code : all_errors()) {
        const std::string variable = fmt::format("{}_{}", name, static_cast<int>(code));
        add_text(variable, text_of(code));
        choice += fmt::format("    setp.eq.u32 %p1, %r1, {};\n    @%p1 mov.u64 %rd1, {};\n",
                              static_cast<int>(code), variable);
    }
    return fmt::format(R"({}
.visible .func (.param .b64 text) {}(.param .b32 code)
{{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<3>;
    ld.param.u32 %r1, [code];
    mov.u64 %rd1, {};
{}    cvta.global.u64 %rd2, %rd1;
    st.param.b64 [text], %rd2;
    ret;
}}
)",
                       texts, name, unknown, choice);
}

}  // namespace

std::expected<ptx::Module, Error> with_device_runtime(ptx::Module module) {
    std::string text = ".version 7.0\n.target sm_50\n.address_size 64\n";
    bool is_wanted = false;
    const auto give = [&](std::string_view name, const auto& definition) {
        const auto place = std::ranges::find(module.functions, name, &ptx::Function::name);
        if (place == module.functions.end()) return;
        // nvcc's programs bring libcudadevrt's own code, which calls into the driver.
        place->body.clear();
        place->is_extern = true;
        place->is_visible = place->is_weak = false;
        text += definition();
        is_wanted = true;
    };
    give(set_conditional_function, [] { return std::string(set_conditional); });
    give(error_name_function, [] { return error_function(error_name_function, error_name); });
    give(error_text_function, [] { return error_function(error_text_function, error_text); });
    if (!is_wanted) return module;
    auto own = ptx::parse(text, "the device's runtime");
    if (!own) return std::unexpected(own.error());
    own->version = module.version;
    own->target = module.target;
    own->target_options = module.target_options;
    std::vector<ptx::Module> parts;
    parts.push_back(std::move(module));
    parts.push_back(std::move(*own));
    return ptx::link(std::move(parts));
}

}  // namespace trimtab::cuda
