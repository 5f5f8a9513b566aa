// Running other programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace trimtab::tools {

// A folder of this process alone, gone with the object.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

struct Outcome {
    bool started = false;
    int exit_code = -1;    // 128 + the signal where one ended it
    std::string captured;  // what it wrote on the stream that was asked for
};
enum class Capture {
    nothing,
    output,    // stdout; what it says on stderr is dropped
    messages,  // stderr
};
// Runs to the end, with the environment of this process.
[[nodiscard]] Outcome run_program(const std::vector<std::string>& command, Capture capture);

// The file that a shell would run for `name`; nullopt where there is none.
[[nodiscard]] std::optional<std::string> find_program(const std::string& name);
// Trimtab's own: beside this program, or in ../lib (../lib64 ...) of it.
[[nodiscard]] std::optional<std::string> find_sibling(const std::string& name);
[[nodiscard]] std::optional<std::string> find_own_library(const std::string& name);

}  // namespace trimtab::tools
