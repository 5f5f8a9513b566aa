// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/emulator/check/allocation_log.h"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace trimtab::emulator::check {
namespace {

constexpr int max_frames = 48;
constexpr std::size_t max_freed = 4096;
constexpr std::uint64_t word_bits = 64;

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

bool bit(const std::vector<std::uint64_t>& bits, std::uint64_t i) {
    return ((bits[i / word_bits] >> (i % word_bits)) & 1u) != 0;
}

void set_bits(std::vector<std::uint64_t>& bits, std::uint64_t first, std::uint64_t end) {
    while (first < end) {
        const std::uint64_t offset = first % word_bits;
        const std::uint64_t count = std::min(word_bits - offset, end - first);
        const std::uint64_t ones = count == word_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
        bits[first / word_bits] |= ones << offset;
        first += count;
    }
}

// The first clear bit of [first, end), or end.
std::uint64_t first_clear(const std::vector<std::uint64_t>& bits, std::uint64_t first, std::uint64_t end) {
    while (first < end) {
        if (first % word_bits == 0 && end - first >= word_bits &&
            bits[first / word_bits] == ~std::uint64_t{0})
            first += word_bits;
        else if (bit(bits, first))
            first++;
        else
            return first;
    }
    return end;
}

}  // namespace

RawStack capture_stack() {
    RawStack stack;
    stack.frames.resize(max_frames);
    stack.frames.resize(static_cast<std::size_t>(backtrace(stack.frames.data(), max_frames)));
    return stack;
}

HostStack symbols_of(const RawStack& stack) {
    HostStack all;
    bool outside = false;
    for (void* frame : stack.frames) {
        // The call lies before the address where it returns to.
        auto* const call = static_cast<char*>(frame) - 1;
        Dl_info info{};
        if (dladdr(call, &info) == 0 || info.dli_fname == nullptr) continue;
        const std::string_view name = file_name(info.dli_fname);
        if (!outside && name.starts_with("libtrimtab")) continue;
        outside = true;
        if (name.starts_with("libc.so") || name.starts_with("ld-linux")) break;  // what calls main
        all.push_back({.module = info.dli_fname,
                       .offset = static_cast<std::uint64_t>(call - static_cast<char*>(info.dli_fbase)),
                       .symbol = info.dli_sname == nullptr ? "" : info.dli_sname,
                       .place = ""});
    }
    return all;
}

void AllocationLog::allocate(std::uint64_t first, std::uint64_t size_bytes, bool is_tracked, RawStack stack) {
    Allocation allocation{
        .first = first, .size_bytes = size_bytes, .allocated = std::move(stack), .freed = {}, .written = {}};
    if (is_tracked) allocation.written.resize((size_bytes + word_bits - 1) / word_bits);
    live_[first] = std::move(allocation);
    last_ = nullptr;
    std::erase_if(freed_, [first, size_bytes](const Allocation& old) {
        return old.first < first + size_bytes && first < old.first + old.size_bytes;
    });
}

void AllocationLog::release(std::uint64_t first, RawStack stack) {
    const auto found = live_.find(first);
    if (found == live_.end()) return;
    Allocation allocation = std::move(found->second);
    live_.erase(found);
    last_ = nullptr;
    allocation.freed = std::move(stack);
    allocation.written = {};
    freed_.push_front(std::move(allocation));
    if (freed_.size() > max_freed) freed_.pop_back();
}

AllocationLog::Allocation* AllocationLog::find(std::uint64_t address) const {
    if (last_ != nullptr && address - last_->first < last_->size_bytes) return last_;
    const auto after = live_.upper_bound(address);
    if (after == live_.begin()) return nullptr;
    Allocation& candidate = std::prev(after)->second;
    if (address - candidate.first >= candidate.size_bytes) return nullptr;
    return last_ = &candidate;
}

const AllocationLog::Allocation* AllocationLog::live(std::uint64_t address) const {
    return find(address);
}

const AllocationLog::Allocation* AllocationLog::freed(std::uint64_t address) const {
    const auto found = std::find_if(freed_.begin(), freed_.end(), [address](const Allocation& allocation) {
        return address - allocation.first < allocation.size_bytes;
    });
    return found == freed_.end() ? nullptr : &*found;
}

const AllocationLog::Allocation* AllocationLog::nearest(std::uint64_t address) const {
    constexpr std::uint64_t near_bytes = std::uint64_t{1} << 30;
    const auto after = live_.upper_bound(address);
    const Allocation* best = nullptr;
    std::uint64_t best_bytes = near_bytes;
    if (after != live_.begin()) {
        const Allocation& before = std::prev(after)->second;
        const std::uint64_t past = address - std::min(address, before.first + before.size_bytes);
        if (past < best_bytes) {
            best = &before;
            best_bytes = past;
        }
    }
    if (after != live_.end() && after->first - address < best_bytes) best = &after->second;
    return best;
}

void AllocationLog::write(std::uint64_t first, std::uint64_t bytes) {
    Allocation* const allocation = find(first);
    if (allocation == nullptr || allocation->written.empty()) return;
    const std::uint64_t start = first - allocation->first;
    set_bits(allocation->written, start, std::min(start + bytes, allocation->size_bytes));
}

std::optional<std::uint64_t> AllocationLog::first_unwritten(std::uint64_t first, std::uint64_t bytes) const {
    const Allocation* const allocation = find(first);
    if (allocation == nullptr || allocation->written.empty()) return std::nullopt;
    const std::uint64_t start = first - allocation->first;
    const std::uint64_t end = std::min(start + bytes, allocation->size_bytes);
    const std::uint64_t found = first_clear(allocation->written, start, end);
    if (found == end) return std::nullopt;
    return allocation->first + found;
}

void AllocationLog::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
    const Allocation* const source = find(from);
    if (source == nullptr || source->written.empty()) {
        write(to, bytes);
        return;
    }
    // By stretches that are written; a copy within an allocation must not see its own writes.
    const std::uint64_t start = from - source->first;
    const std::uint64_t end = std::min(start + bytes, source->size_bytes);
    const bool is_within = find(to) == source;
    const std::vector<std::uint64_t> kept = is_within ? source->written : std::vector<std::uint64_t>{};
    const std::vector<std::uint64_t>& bits = is_within ? kept : source->written;
    for (std::uint64_t at = start; at < end;) {
        const std::uint64_t stop = first_clear(bits, at, end);
        if (stop > at) write(to + (at - start), stop - at);
        at = stop;
        while (at < end && !bit(bits, at)) at++;
    }
}

}  // namespace trimtab::emulator::check
