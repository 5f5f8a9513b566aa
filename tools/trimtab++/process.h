// Running other programs, as a compiler driver does.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace trimtab::wrapper {

// Runs to the end and gives the exit code; 1, with one line on stderr, where the program could not be started
// or died of a signal.
[[nodiscard]] int run(const std::vector<std::string>& command,
                      const std::vector<std::pair<std::string, std::string>>& environment = {});

// The same with what it writes on stderr in `messages`, a file.
[[nodiscard]] int run_with_messages_in(const std::string& messages, const std::vector<std::string>& command,
                                       const std::vector<std::pair<std::string, std::string>>& environment);

// Becomes the other program (by its own name: arguments[0] is not read); returns only where that fails,
// with the exit code, having said why.
[[nodiscard]] int become(const std::string& program, const std::vector<std::string>& arguments);

// A folder of this process alone, gone with the object.
class TemporaryFolder {
  public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    [[nodiscard]] bool valid() const { return !path_.empty(); }
    [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace trimtab::wrapper
