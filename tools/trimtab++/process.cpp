#include "tools/trimtab++/process.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

namespace trimtab::wrapper {
namespace {

int execute(const std::vector<std::string>& command,
            const std::vector<std::pair<std::string, std::string>>& environment,
            llvm::ArrayRef<std::optional<llvm::StringRef>> redirects) {
    // Inherited by the child; a compile never runs beside another one in this process.
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    const llvm::SmallVector<llvm::StringRef, 64> arguments(command.begin(), command.end());
    std::string message;
    bool failed = false;
    const int code = llvm::sys::ExecuteAndWait(command.front(), arguments, std::nullopt, redirects, 0, 0,
                                               &message, &failed);
    if (failed || code < 0) {
        std::fprintf(stderr, "trimtab++: %s: %s\n", command.front().c_str(),
                     message.empty() ? "the program died" : message.c_str());
        return 1;
    }
    return code;
}

}  // namespace

int run(const std::vector<std::string>& command,
        const std::vector<std::pair<std::string, std::string>>& environment) {
    return execute(command, environment, {});
}

int run_with_messages_in(const std::string& messages, const std::vector<std::string>& command,
                         const std::vector<std::pair<std::string, std::string>>& environment) {
    const std::optional<llvm::StringRef> redirects[] = {std::nullopt, std::nullopt, messages};
    return execute(command, environment, redirects);
}

int become(const std::string& program, const std::vector<std::string>& arguments) {
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    // execv() takes char* and does not change what it points to.
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.front() = const_cast<char*>(program.c_str());
    argv.push_back(nullptr);
    execv(program.c_str(), argv.data());
    std::fprintf(stderr, "trimtab++: %s: %s\n", program.c_str(), std::strerror(errno));
    return 1;
}

TemporaryFolder::TemporaryFolder() {
    llvm::SmallString<128> path;
    if (!llvm::sys::fs::createUniqueDirectory("trimtab", path)) path_ = path.str().str();
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace trimtab::wrapper
