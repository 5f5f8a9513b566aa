// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Trimtab says on stderr while a program runs.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "choosing/settings.h"

namespace spdlog {
class logger;
}

namespace trimtab::choosing {

class Log {
  public:
    explicit Log(LogLevel level);
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    [[nodiscard]] bool wants(LogLevel level) const { return level <= level_; }
    void warn(std::string_view line);
    void warn_once(const std::string& line);  // the same line is said once in the life of the process
    void summary(std::string_view line);
    void info(std::string_view line);
    void debug(std::string_view line);

  private:
    LogLevel level_;
    std::shared_ptr<spdlog::logger> logger_;
    std::mutex mutex_;
    std::set<std::string, std::less<>> said_;
};

}  // namespace trimtab::choosing
