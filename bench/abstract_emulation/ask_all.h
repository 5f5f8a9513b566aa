// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every case on every device, asked from several host threads.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <expected>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "bench/abstract_emulation/cases.h"

namespace trimtab::bench {

// `ask` is called from `threads` threads, `take` with one answer at a time. An error is printed on stderr after
// `program` and the rest still asked; the first is returned.
template <typename Answer>
std::expected<void, Error> ask_all(
    std::string_view program, const std::vector<Case>& cases, const std::vector<model::Device>& devices,
    unsigned threads,
    const std::function<std::expected<Answer, Error>(const Case&, const model::Device&)>& ask,
    const std::function<void(Answer)>& take) {
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;
    std::optional<Error> first_error;
    const auto work = [&] {
        for (std::size_t i = next++; i < cases.size() * devices.size(); i = next++) {
            const Case& one = cases[i / devices.size()];
            const model::Device& device = devices[i % devices.size()];
            auto answer = ask(one, device);
            const std::lock_guard lock(mutex);
            if (answer) {
                take(std::move(*answer));
                continue;
            }
            Error error = answer.error();
            error.message = fmt::format("{} on {}: {}", one.what, device.slug, error.message);
            fmt::print(stderr, "{}: {}\n", program, error.text());
            if (!first_error) first_error = std::move(error);
        }
    };
    {
        std::vector<std::jthread> helpers;
        for (unsigned t = 1; t < threads; ++t) helpers.emplace_back(work);
        work();
    }
    if (first_error) return std::unexpected(*first_error);
    return {};
}

}  // namespace trimtab::bench
