// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/emulator_speed/emulated.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace trimtab::bench {

class Emulated::Memory : public emulator::GlobalMemory {
  public:
    void add(const void* buffer, std::size_t bytes) {
        ranges_[reinterpret_cast<std::uint64_t>(buffer)] = bytes;
    }
    [[nodiscard]] Range range_of(std::uint64_t address, emulator::Access) override {
        auto at = ranges_.upper_bound(address);
        if (at == ranges_.begin()) return {};
        --at;
        if (address - at->first >= at->second) return {};
        return {at->first, at->first + at->second, reinterpret_cast<std::byte*>(at->first)};
    }
    [[nodiscard]] std::string explain(std::uint64_t) const override { return "outside of every buffer"; }

  private:
    std::map<std::uint64_t, std::uint64_t> ranges_;
};

namespace {

std::string contents(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string compile(const std::string& source, std::string& error) {
    std::string pattern = (std::filesystem::temp_directory_path() / "trimtab-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) return "";
    const std::filesystem::path folder = pattern;
    std::ofstream(folder / "kernels.cu") << source;
    const std::string command = "cd '" + folder.string() +
                                "' && " TRIMTAB_CLANG
                                " -x cuda --cuda-device-only --cuda-gpu-arch=sm_75 -Wno-unknown-cuda-version"
                                " --cuda-path=" TRIMTAB_CUDA_PATH " -O3 -S kernels.cu -o kernels.ptx 2> log";
    std::string ptx;
    if (std::system(command.c_str()) == 0)
        ptx = contents(folder / "kernels.ptx");
    else
        error = contents(folder / "log");
    std::filesystem::remove_all(folder);
    return ptx;
}

}  // namespace

Emulated::Emulated(const Case& from) : case_(from), memory_(std::make_unique<Memory>()) {
    static std::map<std::string, std::string> compiled;
    if (!compiled.contains(from.cuda)) compiled[from.cuda] = compile(from.cuda, error_);
    ptx_ = compiled[from.cuda];
    if (!error_.empty()) return;
    reload();
    buffers_.reserve(from.arguments.size());
    const auto append = [this](const void* value, std::size_t size) {
        parameters_.resize((parameters_.size() + size - 1) / size * size);
        const std::size_t at = parameters_.size();
        parameters_.resize(at + size);
        std::memcpy(parameters_.data() + at, value, size);
    };
    for (std::size_t i = 0; i < from.arguments.size(); i++) {
        if (const auto* buffer = std::get_if<Case::Buffer>(&from.arguments[i])) {
            const std::vector<float> values = initial_values(i, buffer->floats);
            const std::size_t bytes = values.size() * sizeof(float);
            if (i == from.result) {
                result_ = buffers_.size();
                result_floats_ = values.size();
            }
            Unit* address = buffers_.emplace_back((bytes + sizeof(Unit) - 1) / sizeof(Unit)).data();
            std::memcpy(address, values.data(), bytes);
            memory_->add(address, bytes);
            append(&address, sizeof address);
        } else if (const int* integer = std::get_if<int>(&from.arguments[i])) {
            append(integer, sizeof *integer);
        } else if (const float* real = std::get_if<float>(&from.arguments[i])) {
            append(real, sizeof *real);
        }
    }
}

Emulated::~Emulated() = default;

void Emulated::reload() {
    auto module = ptx::parse(ptx_, "kernels.ptx");
    if (!module) {
        error_ = module.error().text();
        return;
    }
    auto program = emulator::load_program(std::move(*module));
    if (program)
        program_ = std::move(*program);
    else
        error_ = program.error().text();
}

bool Emulated::run(const char* mode, unsigned threads, bool counted) {
    setenv("TRIMTAB_EMULATOR", mode, 1);
    emulator::LaunchRequest request;
    request.kernel = case_.kernel;
    request.grid = {case_.grid[0], case_.grid[1], 1};
    request.block = {case_.block[0], case_.block[1], 1};
    request.parameters = parameters_;
    request.threads = threads;
    request.counting.count = request.counting.footprints = counted;
    const auto done = emulator::launch(*program_, *memory_, request);
    if (!done) error_ = done.error().message;
    return done.has_value();
}

std::span<const float> Emulated::result() const {
    return {reinterpret_cast<const float*>(buffers_[result_].data()), result_floats_};
}

}  // namespace trimtab::bench
