// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/check/race_shadow.h"

namespace trimtab::emulator::check {
namespace {

bool conflicts(const Ordering& ordering, const Stamp& before, const Stamp& now) {
    if (!before.is_valid() || (before.bytes & now.bytes) == 0 || (before.strong && now.strong)) return false;
    return !before.is_same_thread(now) && !ordering.is_before(before, now.thread % warp_lanes);
}

}  // namespace

RaceShadow::Word& RaceShadow::word_at(std::uint64_t address) {
    const std::uint64_t word = address / word_bytes;
    const std::uint64_t number = word / page_words;
    if (last_page_ == nullptr || number != last_number_) {
        std::unique_ptr<Page>& page = pages_[number];
        if (page == nullptr) page = std::make_unique<Page>();
        last_page_ = page.get();
        last_number_ = number;
    }
    return (*last_page_)[word % page_words];
}

const Stamp& RaceShadow::last_writer(std::uint64_t address) {
    return word_at(address).writer;
}

std::optional<Race> RaceShadow::access(const Ordering& ordering, std::uint64_t address, const Stamp& stamp,
                                       bool reads, bool writes, bool keeps_value) {
    Word& word = word_at(address);
    std::optional<Race> race;
    if (writes && keeps_value && !reads && word.writer.is_valid()) return race;
    if (conflicts(ordering, word.writer, stamp)) race = Race{word.writer, true};
    if (writes) {
        for (const Stamp& reader : word.readers) {
            if (!race && conflicts(ordering, reader, stamp)) race = Race{reader, false};
        }
        word.writer = stamp;
    }
    if (reads) {
        if (word.readers[0].is_valid() && !word.readers[0].is_same_thread(stamp))
            word.readers[1] = word.readers[0];
        word.readers[0] = stamp;
    }
    return race;
}

void RaceShadow::clear() {
    pages_.clear();
    last_page_ = nullptr;
}

}  // namespace trimtab::emulator::check
