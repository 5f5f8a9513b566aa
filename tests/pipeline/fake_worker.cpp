// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fake_worker MANNER [FILE]: answers task n with {"square": n * n}, but
//   well        nothing else
//   slow        after 30 ms
//   together    answers its first task when three have one, which FILE counts
//   dies        ends by SIGKILL at each task
//   dies-once   ends by SIGKILL at the first task, and makes FILE; where FILE is there, it does well
//   hangs-once  the same, but stops
//   poisoned    dies at task 3
//   mute        says nothing at all
//   garbage     writes what is no message at the first task
//   banner      writes a line of text before anything else
//   old         says that it is of another version
//   wrong       answers with {"square": -1}
//   unasked     answers another task
//   untyped     says its version in numbers
//   reads-late  begins to read after a while
//   follows     begins when FILE is there
//   second      begins when FILE has two bytes
//   disagrees   does the work of kernels well, and says of each that another block leaves something else
// Those that talk nonsense (garbage to untyped) add a byte to FILE when they start.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "pipeline/workers/kernel_task.h"
#include "pipeline/workers/message.h"

namespace {

using namespace trimtab::workers;
using nlohmann::json;

void write_all(const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t written = write(STDOUT_FILENO, bytes.data() + at, bytes.size() - at);
        if (written <= 0) _exit(1);
        at += static_cast<std::size_t>(written);
    }
}

bool is_first(const char* file) {
    const int made = open(file, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (made >= 0) close(made);
    return made >= 0;
}

void count(const char* file) {
    const int opened = open(file, O_CREAT | O_APPEND | O_WRONLY, 0600);
    if (opened < 0 || write(opened, "x", 1) != 1) _exit(1);
    close(opened);
}

void wait_for(const char* file, std::uintmax_t bytes) {
    std::error_code none;
    while (std::filesystem::file_size(file, none) + 1 < bytes + 1)  // no file: -1
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace

int main(int argc, char** argv) {
    const std::string manner = argc > 1 ? argv[1] : "well";
    if (manner == "mute") pause();
    const std::set<std::string> nonsense = {"garbage", "banner", "old", "wrong", "unasked", "untyped"};
    if (nonsense.contains(manner)) count(argv[2]);
    if (manner == "follows") wait_for(argv[2], 0);
    if (manner == "second") wait_for(argv[2], 2);
    if (manner == "banner") write_all("Welcome to node7\nPlease behave\n");
    json hello = {{"trimtab_worker", protocol}, {"version", manner == "old" ? "0.0.1" : TRIMTAB_VERSION}};
    if (manner == "untyped") hello["version"] = 7;
    write_all(encode(hello));
    if (manner == "reads-late") std::this_thread::sleep_for(std::chrono::milliseconds(500));
    MessageReader reader;
    std::size_t body_bytes = 0;
    bool is_first_task = true;
    KernelHand hand(1);
    char buffer[65536];
    for (ssize_t got; (got = read(STDIN_FILENO, buffer, sizeof buffer)) > 0;) {
        reader.add({buffer, static_cast<std::size_t>(got)});
        while (true) {
            const auto message = reader.next();
            if (!message) return 3;
            if (!*message) break;
            if (!(*message)->head.contains("task")) {
                body_bytes = (*message)->body.size();
                if (manner == "disagrees") hand.take((*message)->head, (*message)->body);
                continue;
            }
            const auto task = (*message)->head["task"].get<long>();
            if (manner == "disagrees") {
                auto answer = hand.work((*message)->head, {});
                if (!answer) return 4;
                (*answer)["task"] = task;
                if (answer->contains("evidence"))
                    (*answer)["evidence"] = {{"outcome", "differs"},
                                             {"text", "on the emulator it does not leave the same"},
                                             {"launches", 1},
                                             {"assumed_races", 0}};
                write_all(encode(*answer));
                continue;
            }
            if (manner == "together" && std::exchange(is_first_task, false)) {
                count(argv[2]);
                wait_for(argv[2], 3);
            }
            if (manner == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(30));
            if (manner == "dies" || (manner == "poisoned" && task == 3)) raise(SIGKILL);
            if (manner == "dies-once" && is_first(argv[2])) raise(SIGKILL);
            if (manner == "hangs-once" && is_first(argv[2])) raise(SIGSTOP);
            if (manner == "garbage") write_all("Segmentation fault (core dumped)\n");
            if (manner == "unasked") write_all(encode({{"task", task + 1}, {"square", 0}}));
            write_all(encode({{"alive", 0.5}}));
            write_all(encode({{"task", task},
                              {"square", manner == "wrong" ? -1 : task * task},
                              {"body_bytes", body_bytes},
                              {"process", getpid()}}));
        }
    }
    return 0;
}
