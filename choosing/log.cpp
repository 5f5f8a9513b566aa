// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "choosing/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_color_sinks.h>

namespace trimtab::choosing {
namespace {

// What is printed is decided by LogLevel, which has a level more than spdlog has between warnings and
// information.
spdlog::level::level_enum spdlog_level(LogLevel level) {
    switch (level) {
        case LogLevel::off:
            return spdlog::level::off;
        case LogLevel::warn:
            return spdlog::level::warn;
        case LogLevel::summary:
        case LogLevel::info:
            return spdlog::level::info;
        case LogLevel::debug:
            return spdlog::level::debug;
    }
    return spdlog::level::warn;
}

}  // namespace

Log::Log(LogLevel level)
    : level_(level),
      logger_(
          // In colour on a terminal alone.
          std::make_shared<spdlog::logger>("trimtab",
                                           std::make_shared<spdlog::sinks::stderr_color_sink_mt>())) {
    logger_->set_pattern("%^trimtab:%$ %v");
    logger_->set_level(spdlog_level(level));
}
Log::~Log() = default;

void Log::warn(std::string_view line) {
    logger_->log(spdlog::level::warn, "{}", line);
}
void Log::summary(std::string_view line) {
    if (wants(LogLevel::summary)) logger_->log(spdlog::level::info, "{}", line);
}
void Log::info(std::string_view line) {
    if (wants(LogLevel::info)) logger_->log(spdlog::level::info, "{}", line);
}
void Log::debug(std::string_view line) {
    logger_->log(spdlog::level::debug, "{}", line);
}

void Log::warn_once(const std::string& line) {
    {
        const std::lock_guard lock(mutex_);
        if (!said_.insert(line).second) return;
    }
    warn(line);
}

}  // namespace trimtab::choosing
