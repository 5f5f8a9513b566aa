// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Redis of a test's own, on a port that was free.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <hiredis/hiredis.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

namespace trimtab::tests {

class RedisServer {
  public:
    RedisServer() {
        constexpr int tries = 20;
        for (int i = 0; i < tries && process_ < 0; ++i) start(free_port());
        EXPECT_GE(process_, 0) << "no redis-server";
    }
    ~RedisServer() { stop(); }
    RedisServer(const RedisServer&) = delete;
    RedisServer& operator=(const RedisServer&) = delete;

    [[nodiscard]] int port() const { return port_; }
    [[nodiscard]] std::string url() const { return "redis://127.0.0.1:" + std::to_string(port_); }
    void signal(int number) const { kill(process_, number); }
    void stop() {
        if (process_ < 0) return;
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
        process_ = -1;
    }
    // A command of words without blanks in them; what it answers, as text.
    [[nodiscard]] std::string ask(const std::string& command) const { return ask(port_, command); }

  private:
    static std::string ask(int port, const std::string& command) {
        const std::unique_ptr<redisContext, decltype(&redisFree)> context(redisConnect("127.0.0.1", port),
                                                                          redisFree);
        if (!context || context->err != 0) return {};
        const std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply(
            static_cast<redisReply*>(redisCommand(context.get(), command.c_str())), freeReplyObject);
        if (!reply) return {};
        if (reply->type == REDIS_REPLY_INTEGER) return std::to_string(reply->integer);
        if (reply->type != REDIS_REPLY_ARRAY)
            return reply->str != nullptr ? std::string(reply->str, reply->len) : "";
        std::string lines;
        for (std::size_t i = 0; i < reply->elements; ++i) lines += std::string(reply->element[i]->str) + "\n";
        return lines;
    }
    static int free_port() {
        const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        bind(probe, reinterpret_cast<sockaddr*>(&address), length);
        getsockname(probe, reinterpret_cast<sockaddr*>(&address), &length);
        close(probe);
        return ntohs(address.sin_port);
    }
    void start(int port) {
        const std::string text = std::to_string(port);
        process_ = fork();
        if (process_ == 0) {
            if (freopen("/dev/null", "w", stdout) == nullptr) _exit(98);
            execlp("redis-server", "redis-server", "--port", text.c_str(), "--bind", "127.0.0.1", "--save",
                   "", "--appendonly", "no", nullptr);
            _exit(99);
        }
        for (int i = 0; i < 6000; ++i) {
            if (ask(port, "PING") == "PONG") {
                port_ = port;
                return;
            }
            if (waitpid(process_, nullptr, WNOHANG) != 0) break;  // the port was taken meanwhile
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        process_ = -1;
    }
    int port_ = 0;
    pid_t process_ = -1;
};

}  // namespace trimtab::tests
