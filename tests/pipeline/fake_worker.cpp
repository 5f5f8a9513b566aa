// fake_worker MANNER [FILE]: answers task n with {"square": n * n}, but
//   well        nothing else
//   slow        after 30 ms
//   dies        ends by SIGKILL at each task
//   dies-once   ends by SIGKILL at the first task, and makes FILE; where FILE is there, it does well
//   hangs-once  the same, but stops
//   poisoned    dies at task 3
//   garbage     writes what is no message at the first task
//   banner      writes a line of text before anything else
//   old         says that it is of another version
//   mute        says nothing at all
//   wrong       answers with {"square": -1}
//   unasked     answers another task
//   untyped     says its version in numbers
//   reads-late  begins to read after a while
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <thread>

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

}  // namespace

int main(int argc, char** argv) {
    const std::string manner = argc > 1 ? argv[1] : "well";
    if (manner == "mute") pause();
    if (manner == "banner") write_all("Welcome to node7\nPlease behave\n");
    json hello = {{"trimtab_worker", protocol}, {"version", manner == "old" ? "0.0.1" : TRIMTAB_VERSION}};
    if (manner == "untyped") hello["version"] = 7;
    write_all(encode(hello));
    if (manner == "reads-late") std::this_thread::sleep_for(std::chrono::milliseconds(500));
    MessageReader reader;
    std::size_t body_bytes = 0;
    char buffer[65536];
    for (ssize_t got; (got = read(STDIN_FILENO, buffer, sizeof buffer)) > 0;) {
        reader.add({buffer, static_cast<std::size_t>(got)});
        while (true) {
            const auto message = reader.next();
            if (!message) return 3;
            if (!*message) break;
            if (!(*message)->head.contains("task")) {
                body_bytes = (*message)->body.size();
                continue;
            }
            const auto task = (*message)->head["task"].get<long>();
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
