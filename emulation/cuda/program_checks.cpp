// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "emulation/cuda/program_checks.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "emulation/cuda/state.h"

namespace trimtab::cuda {
namespace {

const char* report_file() {
    const char* name = secure_getenv("TRIMTAB_CHECK_REPORT");
    return name == nullptr || *name == '\0' ? nullptr : name;
}

// Whole, and again after every launch: a program may end without saying so.
void write_reports(const check::Checker& checker) {
    const char* const name = report_file();
    if (name == nullptr) return;
    std::ofstream file(name, std::ios::binary | std::ios::trunc);
    file << checker.json();
}

void say_reports() {
    const check::Checker* const checker = State::instance().checker.get();
    if (checker == nullptr) return;
    if (report_file() != nullptr) {
        write_reports(*checker);
        return;
    }
    for (const check::Report& report : checker->reports())
        std::fprintf(stderr, "trimtab: %s", check::text_of(report).c_str());
}

}  // namespace

std::unique_ptr<check::Checker> checker_of_environment(State& state) {
    const char* const text = secure_getenv("TRIMTAB_CHECK");
    if (text == nullptr || *text == '\0') return nullptr;
    const auto checks = check::parse_checks(text);
    if (!checks) {
        state.say("TRIMTAB_CHECK: " + checks.error().text());
        return nullptr;
    }
    std::atexit(say_reports);
    return std::make_unique<check::Checker>(*checks);
}

void note_allocation(check::Checker* checker, const void* first, std::uint64_t size_bytes, MemoryKind kind) {
    // The host writes to the other kinds by itself.
    if (checker != nullptr) checker->allocated(first, size_bytes, kind == MemoryKind::device);
}

void note_release(check::Checker* checker, const void* first) {
    if (checker != nullptr) checker->released(first);
}

CheckedLaunch::CheckedLaunch(check::Checker* checker) : checker_(checker) {
    if (checker_ != nullptr) checker_->begin_launch();
}

CheckedLaunch::~CheckedLaunch() {
    if (checker_ == nullptr) return;
    checker_->end_launch();
    if (!checker_->reports().empty()) write_reports(*checker_);
}

}  // namespace trimtab::cuda
