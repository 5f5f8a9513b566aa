// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The corpus of scripts/fuzz.sh, and inputs that once broke something, once more.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/targets.h"

namespace trimtab::fuzz {
namespace {

namespace fs = std::filesystem;

using Target = void (*)(Input);

std::vector<std::byte> contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::vector<std::byte> bytes(text.size());
    std::transform(text.begin(), text.end(), bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
    return bytes;
}

std::vector<std::vector<std::byte>> corpus(const char* name) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(fs::path(TRIMTAB_SOURCE_DIR "/tests/fuzz/corpus") / name))
        paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    std::vector<std::vector<std::byte>> inputs;
    for (const fs::path& path : paths) inputs.push_back(contents(path));
    return inputs;
}

// Inputs made of others as a fuzzer makes them, without its knowledge of the code: the same every time.
class Mutator {
  public:
    explicit Mutator(const std::vector<std::vector<std::byte>>& inputs) : inputs_(inputs) {}
    [[nodiscard]] std::vector<std::byte> next() {
        std::vector<std::byte> made = inputs_[below(inputs_.size())];
        for (std::size_t changes = 1 + below(4); changes > 0 && !made.empty(); changes--) {
            const auto at = [&] { return made.begin() + static_cast<std::ptrdiff_t>(below(made.size())); };
            switch (below(6)) {
                case 0:
                    *at() = static_cast<std::byte>(below(256));
                    break;
                case 1:
                    *at() ^= static_cast<std::byte>(1u << below(8));
                    break;
                case 2: {  // a number
                    constexpr std::array<std::uint64_t, 8> numbers{
                        0, 1, 0x7f, 0xff, 0x7fffffff, 0xffffffff, 0xfffffff0, 0x80000000};
                    const std::uint64_t number = numbers[below(numbers.size())];
                    const auto place = at();
                    std::memcpy(&*place, &number,
                                std::min<std::size_t>(static_cast<std::size_t>(made.end() - place), 4));
                    break;
                }
                case 3: {  // a stretch goes, or comes twice
                    const auto first = at();
                    const auto end = first + static_cast<std::ptrdiff_t>(below(std::min<std::size_t>(
                                                 64, static_cast<std::size_t>(made.end() - first))));
                    const std::vector<std::byte> stretch(first, end);
                    if (below(2) == 0)
                        made.erase(first, end);
                    else
                        made.insert(first, stretch.begin(), stretch.end());
                    break;
                }
                case 4: {  // a stretch of another input
                    const std::vector<std::byte>& other = inputs_[below(inputs_.size())];
                    if (other.empty()) break;
                    const std::size_t start = below(other.size());
                    const std::size_t size = std::min(below(200), other.size() - start);
                    const auto from = other.begin() + static_cast<std::ptrdiff_t>(start);
                    made.insert(at(), from, from + static_cast<std::ptrdiff_t>(size));
                    break;
                }
                default: {  // a line takes another's place, as texts break
                    const auto line = [&](std::vector<std::byte>::iterator place) {
                        const auto end = std::find(place, made.end(), std::byte{'\n'});
                        return std::vector<std::byte>(place, end);
                    };
                    const std::vector<std::byte> moved = line(at());
                    const auto place = std::find(at(), made.end(), std::byte{'\n'});
                    made.insert(place, moved.begin(), moved.end());
                    break;
                }
            }
        }
        return made;
    }

  private:
    [[nodiscard]] std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }

    const std::vector<std::vector<std::byte>>& inputs_;
    std::mt19937_64 random_{7};
};

// TRIMTAB_FUZZ_ROUNDS: more mutations than a test has time for.
std::size_t rounds() {
    const char* text = std::getenv("TRIMTAB_FUZZ_ROUNDS");
    return text == nullptr ? 300 : std::strtoull(text, nullptr, 10);
}

// What an input does to a process cannot be caught: the one that was last written says which it was.
void replay(const char* name, Target target) {
    const std::vector<std::vector<std::byte>> inputs = corpus(name);
    ASSERT_GT(inputs.size(), 8u) << "the corpus has gone";
    const fs::path last = fs::path(testing::TempDir()) / ("trimtab-fuzz-" + std::string(name));
    const auto give = [&](const std::vector<std::byte>& bytes) {
        std::ofstream(last, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        target(bytes);
    };
    for (const std::vector<std::byte>& bytes : inputs) {
        give(bytes);
        // Cut anywhere it is as well answered.
        give({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2)});
    }
    Mutator mutator(inputs);
    for (std::size_t i = rounds(); i > 0; i--) give(mutator.next());
    fs::remove(last);
}

TEST(FuzzCorpus, Ptx) {
    replay("ptx", fuzz_ptx);
}
TEST(FuzzCorpus, FatBinary) {
    replay("fat_binary", fuzz_fat_binary);
}
TEST(FuzzCorpus, Json) {
    replay("json", fuzz_json);
}
TEST(FuzzCorpus, Launch) {
    replay("launch", fuzz_launch);
}

}  // namespace
}  // namespace trimtab::fuzz
