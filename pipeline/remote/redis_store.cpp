// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline/remote/redis_store.h"

#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <unistd.h>

#include <charconv>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "pipeline/remote/sealed_entry.h"

namespace trimtab::remote {
namespace {

using Clock = std::chrono::steady_clock;

// Of the layout below; another has other names.
constexpr const char* prefix = "trimtab:1:";
// What nobody has written or read again for so long is forgotten.
constexpr int entry_lives_s = 30 * 24 * 3600;
// A claim whose owner has ended goes by itself; one that lives renews it.
constexpr int claim_lives_ms = 10'000;
constexpr std::chrono::milliseconds between_renewals{3'000};
// Of whose claim it still is alone.
constexpr const char* renew_script =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) end";

struct FreeReply {
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, FreeReply>;
struct FreeContext {
    void operator()(redisContext* context) const { redisFree(context); }
};
using Context = std::unique_ptr<redisContext, FreeContext>;
using Words = std::vector<std::string>;

timeval as_timeval(std::chrono::milliseconds duration) {
    return {.tv_sec = duration.count() / 1000, .tv_usec = duration.count() % 1000 * 1000};
}

// A call, for the thread that makes it.
struct Call {
    Words words;
    bool is_answered = false;
    std::optional<std::string> text;  // a status or string that came; none: nil
};

// The thread and who waits for it share this: the thread may still be looking up a host's name when the process ends.
class Connection {
  public:
    explicit Connection(RedisOptions options) : options_(std::move(options)) {}

    // The answer; nullopt: none came in time, from now on none is waited for.
    std::optional<Call> ask(Words words) {
        auto call = std::make_shared<Call>(Call{.words = std::move(words), .text = {}});
        std::unique_lock lock(mutex_);
        if (is_off_) return std::nullopt;
        calls_.push_back(call);
        wakes_.notify_one();
        const bool came =
            answers_.wait_for(lock, options_.answer, [&] { return call->is_answered || is_off_; });
        if (came && call->is_answered) return *call;
        turn_off("does not answer in time");
        return std::nullopt;
    }
    void tell(Words words) {
        const std::lock_guard lock(mutex_);
        if (is_off_) return;
        calls_.push_back(std::make_shared<Call>(Call{.words = std::move(words), .text = {}}));
        wakes_.notify_one();
    }
    void renew(const std::string& name, const std::string& token) {
        const std::lock_guard lock(mutex_);
        claims_.emplace(name, token);
    }
    void renew_no_more(const std::string& name, const std::string& token) {
        const std::lock_guard lock(mutex_);
        claims_.erase({name, token});
    }
    // What was told goes out, for as long as is left for it.
    void finish() {
        std::unique_lock lock(mutex_);
        is_finishing_ = true;
        wakes_.notify_one();
        answers_.wait_for(lock, options_.farewell, [&] { return is_ended_ || is_off_; });
    }
    // Why nothing is asked any more; told once.
    std::optional<std::string> trouble() {
        const std::lock_guard lock(mutex_);
        if (trouble_.empty() || was_told_) return std::nullopt;
        was_told_ = true;
        return trouble_;
    }

    void run() {
        // A server that goes away is an answer that does not come.
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &set, nullptr);
        Context context = connect();
        for (;;) {
            std::shared_ptr<Call> call;
            std::vector<std::pair<std::string, std::string>> renewed;
            {
                std::unique_lock lock(mutex_);
                wakes_.wait_for(lock, between_renewals,
                                [&] { return !calls_.empty() || is_finishing_ || is_off_; });
                if (is_off_ || (is_finishing_ && calls_.empty())) break;
                if (!calls_.empty()) {
                    call = calls_.front();
                    calls_.pop_front();
                }
                if (const auto now = Clock::now(); now - renewed_ >= between_renewals) {
                    renewed_ = now;
                    renewed.assign(claims_.begin(), claims_.end());
                }
            }
            for (const auto& [name, token] : renewed)
                (void)say(context, {"EVAL", renew_script, "1", name, token, std::to_string(claim_lives_ms)});
            if (!call) continue;
            const Reply reply = say(context, call->words);
            const std::lock_guard lock(mutex_);
            if (!reply) continue;
            if (reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS)
                call->text.emplace(reply->str, static_cast<std::size_t>(reply->len));
            call->is_answered = true;
            answers_.notify_all();
        }
        const std::lock_guard lock(mutex_);
        is_ended_ = true;
        answers_.notify_all();
    }

  private:
    void turn_off(const std::string& why) {
        if (trouble_.empty()) trouble_ = why;
        is_off_ = true;
        calls_.clear();
        wakes_.notify_all();
        answers_.notify_all();
    }
    Context fail(const std::string& why) {
        const std::lock_guard lock(mutex_);
        turn_off(why);
        return nullptr;
    }

    Context connect() {
        Context context(
            redisConnectWithTimeout(options_.host.c_str(), options_.port, as_timeval(options_.answer)));
        if (!context) return fail("no connection can be made");
        if (context->err != 0) return fail(context->errstr);
        redisSetTimeout(context.get(), as_timeval(options_.answer));
        if (!options_.password.empty() &&
            !say(context, options_.user.empty() ? Words{"AUTH", options_.password}
                                                : Words{"AUTH", options_.user, options_.password}))
            return nullptr;
        if (options_.database != 0 && !say(context, {"SELECT", std::to_string(options_.database)}))
            return nullptr;
        return context;
    }
    Reply say(const Context& context, const Words& words) {
        if (!context) return nullptr;
        std::vector<const char*> texts;
        std::vector<std::size_t> lengths;
        for (const std::string& word : words) {
            texts.push_back(word.data());
            lengths.push_back(word.size());
        }
        Reply reply(static_cast<redisReply*>(
            redisCommandArgv(context.get(), static_cast<int>(words.size()), texts.data(), lengths.data())));
        if (!reply)
            fail(context->err != 0 ? context->errstr : "does not answer");
        else if (reply->type == REDIS_REPLY_ERROR)
            return fail(fmt::format("answers: {}",
                                    std::string_view(reply->str, static_cast<std::size_t>(reply->len)))),
                   nullptr;
        return reply;
    }

    const RedisOptions options_;
    std::mutex mutex_;
    std::condition_variable wakes_, answers_;
    std::deque<std::shared_ptr<Call>> calls_;
    std::set<std::pair<std::string, std::string>> claims_;  // name, token
    Clock::time_point renewed_ = Clock::now();
    std::string trouble_;
    bool is_off_ = false, is_finishing_ = false, is_ended_ = false, was_told_ = false;
};

class RedisStore : public profiler::RemoteStore {
  public:
    RedisStore(RedisOptions options, std::function<void(const std::string& text)> warn)
        : secret_(options.secret),
          place_(fmt::format("{}:{}", options.host, options.port)),
          patience_s_(options.patience_s),
          warn_(std::move(warn)),
          connection_(std::make_shared<Connection>(std::move(options))) {
        std::random_device random;
        token_ = fmt::format("{}-{:08x}{:08x}", getpid(), random(), random());
        std::thread([connection = connection_] { connection->run(); }).detach();
    }
    ~RedisStore() override {
        connection_->finish();
        say_trouble();
    }

    std::optional<std::string> get(std::string_view kind, std::string_view key) override {
        const auto answer = connection_->ask({"GET", entry(kind, key)});
        say_trouble();
        if (!answer || !answer->text) return std::nullopt;
        auto value = unseal(secret_, kind, key, *answer->text);
        if (value) return std::move(*value);
        if (!std::exchange(has_refused_, true))
            warn_(fmt::format("{}: an entry of the store {}: it is not used", place_, value.error().message));
        return std::nullopt;
    }

    void put(std::string_view kind, std::string_view key, std::string_view value) override {
        connection_->tell(
            {"SET", entry(kind, key), seal(secret_, kind, key, value), "EX", std::to_string(entry_lives_s)});
    }

    Claim claim(std::string_view kind, std::string_view key) override {
        const std::string name = claim_name(kind, key);
        const auto answer =
            connection_->ask({"SET", name, token_, "NX", "PX", std::to_string(claim_lives_ms)});
        say_trouble();
        if (!answer) return Claim::unknown;
        if (!answer->text) return Claim::others;
        connection_->renew(name, token_);
        return Claim::mine;
    }

    void release(std::string_view kind, std::string_view key) override {
        const std::string name = claim_name(kind, key);
        connection_->renew_no_more(name, token_);
        connection_->tell({"EVAL",
                           "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end",
                           "1", name, token_});
    }

    [[nodiscard]] double patience_s() const override { return patience_s_; }

  private:
    [[nodiscard]] std::string entry(std::string_view kind, std::string_view key) const {
        return prefix + entry_name(secret_, kind, key);
    }
    [[nodiscard]] std::string claim_name(std::string_view kind, std::string_view key) const {
        return std::string(prefix) + "claim:" + entry_name(secret_, kind, key);
    }
    void say_trouble() {
        if (const auto trouble = connection_->trouble())
            warn_(fmt::format("{}: the shared store {}; this goes on without it", place_, *trouble));
    }

    const std::string secret_, place_;
    const double patience_s_;
    std::function<void(const std::string& text)> warn_;
    std::string token_;
    bool has_refused_ = false;
    std::shared_ptr<Connection> connection_;
};

template <class Number>
bool read_number(std::string_view text, Number least, Number most, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size() && number >= least && number <= most;
}

}  // namespace

std::expected<RedisOptions, Error> read_redis_url(std::string_view url) {
    constexpr std::string_view scheme = "redis://";
    const auto wrong = [&](const char* what) { return std::unexpected(Error{what}); };
    if (!url.starts_with(scheme)) return wrong("wants redis://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]");
    std::string_view rest = url.substr(scheme.size());
    RedisOptions options;
    if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
        const std::string_view who = rest.substr(0, at);
        const std::size_t colon = who.find(':');
        // A password alone is the default user's, ":secret@" or "secret@", as redis-cli has it.
        options.user =
            std::string(colon == std::string_view::npos ? std::string_view() : who.substr(0, colon));
        options.password = std::string(colon == std::string_view::npos ? who : who.substr(colon + 1));
        rest.remove_prefix(at + 1);
    }
    if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
        const std::string_view database = rest.substr(slash + 1);
        if (!database.empty() && !read_number(database, 0, 1'000'000, options.database))
            return wrong("its database is no number");
        rest = rest.substr(0, slash);
    }
    const std::size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;  // [::1]
    if (bracket == std::string_view::npos) return wrong("its [ has no ]");
    if (const std::size_t colon = rest.find(':', bracket); colon != std::string_view::npos) {
        if (!read_number(rest.substr(colon + 1), 1, 65535, options.port))
            return wrong("its port is no number");
        rest = rest.substr(0, colon);
    }
    if (bracket != 0) rest = rest.substr(1, bracket - 1);
    if (rest.empty()) return wrong("names no host");
    options.host = std::string(rest);
    return options;
}

std::unique_ptr<profiler::RemoteStore> make_redis_store(RedisOptions options,
                                                        std::function<void(const std::string& text)> warn) {
    return std::make_unique<RedisStore>(std::move(options), std::move(warn));
}

std::unique_ptr<profiler::RemoteStore> store_of_environment(
    const std::function<void(const std::string& text)>& warn) {
    const char* url = std::getenv("TRIMTAB_STORE");
    if (url == nullptr || *url == '\0') return nullptr;
    auto options = read_redis_url(url);
    if (!options) {
        warn(fmt::format("TRIMTAB_STORE: {}; it is not used", options.error().message));
        return nullptr;
    }
    const char* key = std::getenv("TRIMTAB_STORE_KEY");
    if (key == nullptr || *key == '\0') {
        warn(
            "TRIMTAB_STORE is not used: TRIMTAB_STORE_KEY names no file with the key that its entries are "
            "signed with");
        return nullptr;
    }
    auto secret = read_secret(key);
    if (!secret) {
        warn(fmt::format("TRIMTAB_STORE is not used: {}", secret.error().text()));
        return nullptr;
    }
    options->secret = std::move(*secret);
    if (const char* wait = std::getenv("TRIMTAB_STORE_WAIT");
        wait != nullptr && *wait != '\0' && !read_number<double>(wait, 0, 86'400, options->patience_s)) {
        warn(fmt::format("TRIMTAB_STORE_WAIT={} is no number of seconds; {} it is", wait,
                         RedisOptions{}.patience_s));
        options->patience_s = RedisOptions{}.patience_s;
    }
    return make_redis_store(std::move(*options), warn);
}

}  // namespace trimtab::remote
