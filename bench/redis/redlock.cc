#include "bench/redis/redlock.h"

#include <poll.h>

#include <array>
#include <deque>
#include <stdexcept>
#include <vector>

#include "bench/cluster/load_loop.h"
#include "bench/peers/socket.h"
#include "bench/redis/resp.h"
#include "tools/support/loopback.h"

namespace coordkit::bench::redis {
namespace {

constexpr size_t kServers = 3;
constexpr size_t kMajority = 2;
constexpr int kAnswerLimitMs = 10'000;
constexpr std::string_view kRelease =
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return 0 end";

class Server {
 public:
  Server(const std::string& program, const std::string& address, const std::filesystem::path& data) {
    std::filesystem::create_directories(data);
    const std::string port = address.substr(address.rfind(':') + 1);
    process_ = support::Child::start_program(
        program, {"--bind", "127.0.0.1", "--port", port, "--dir", data, "--logfile", std::filesystem::absolute(data / "log"),
                  "--save", "", "--appendonly", "yes", "--appendfsync", "always", "--daemonize", "no"});
    socket_ = connect_to(address);
  }

  int socket() const { return socket_.get(); }
  void add(std::initializer_list<std::string_view> command) { append_command(out_, command); }
  void flush() {
    send_all(socket_.get(), out_);
    out_.clear();
  }
  // Of what has come; waits for at least a byte.
  void receive() {
    const size_t got = receive_some(socket_.get(), buffer_);
    if (got == 0) throw std::runtime_error("redis-server ended");
    replies_.add({buffer_.data(), got});
  }
  std::optional<Reply> reply() {
    std::optional<Reply> next = replies_.next();
    if (next && next->kind == Reply::Kind::Error) throw std::runtime_error("redis: " + next->text);
    return next;
  }
  Reply ask(std::initializer_list<std::string_view> command) {
    add(command);
    flush();
    while (true) {
      if (std::optional<Reply> answer = reply()) return *std::move(answer);
      receive();
    }
  }

 private:
  support::Child process_;
  support::Descriptor socket_;
  std::string out_;
  ReplyReader replies_;
  std::array<char, 1 << 16> buffer_{};
};

class Redlock {
 public:
  Redlock(std::vector<std::unique_ptr<Server>>& servers, std::string script, LoadLoop& loop, size_t callers)
      : servers_(servers), script_(std::move(script)), loop_(loop), callers_(callers), running_(callers) {}

  void run() {
    for (size_t number = 0; number < callers_.size(); ++number) acquire(number);
    while (running_ > 0) {
      for (const auto& server : servers_) server->flush();
      await_replies();
    }
  }

 private:
  struct Caller {
    bool holds = false;
    size_t answers = 0, agreed = 0;
    uint64_t token = 0;
    TimePoint started;
  };

  void await_replies() {
    std::array<pollfd, kServers> waits{};
    for (size_t i = 0; i < kServers; ++i) waits[i] = {servers_[i]->socket(), POLLIN, 0};
    if (poll(waits.data(), waits.size(), kAnswerLimitMs) <= 0) throw std::runtime_error("redis-server does not answer");
    for (size_t i = 0; i < kServers; ++i) {
      if (waits[i].revents == 0) continue;
      servers_[i]->receive();
      // Replies come in the order of the commands.
      while (const std::optional<Reply> reply = servers_[i]->reply()) {
        const size_t number = asked_[i].front();
        asked_[i].pop_front();
        answered(number, *reply);
      }
    }
  }

  void answered(size_t number, const Reply& reply) {
    Caller& caller = callers_[number];
    const bool agrees = caller.holds ? reply.number == 1 : reply.kind == Reply::Kind::Status;
    if (agrees) ++caller.agreed;
    if (++caller.answers < kServers) return;
    if (caller.agreed < kMajority) loop_.error(absl::InternalError(caller.holds ? "a release was refused" : "an acquire was"));
    if (!caller.holds) return release(number);
    loop_.cycle(caller.started, Clock::now());
    acquire(number);
  }

  void acquire(size_t number) {
    if (loop_.over()) {
      --running_;
      return loop_.caller_ended();
    }
    callers_[number] = {.token = ++tokens_, .started = Clock::now()};
    const std::string token = std::to_string(tokens_);
    for (size_t i = 0; i < kServers; ++i) {
      servers_[i]->add({"SET", name_of(number), token, "NX", "PX", "30000"});
      asked_[i].push_back(number);
    }
  }

  void release(size_t number) {
    Caller& caller = callers_[number];
    caller.holds = true;
    caller.answers = caller.agreed = 0;
    const std::string token = std::to_string(caller.token);
    for (size_t i = 0; i < kServers; ++i) {
      servers_[i]->add({"EVALSHA", script_, "1", name_of(number), token});
      asked_[i].push_back(number);
    }
  }

  static std::string name_of(size_t number) { return "lock-" + std::to_string(number); }

  std::vector<std::unique_ptr<Server>>& servers_;
  const std::string script_;
  LoadLoop& loop_;
  std::vector<Caller> callers_;
  size_t running_;
  std::array<std::deque<size_t>, kServers> asked_;  // callers whose replies are due
  uint64_t tokens_ = 0;
};

}  // namespace

nlohmann::ordered_json run_redlock(const std::string& program, const std::filesystem::path& data, const LoadOptions& load) {
  const std::vector<std::string> addresses = support::free_loopback_addresses(kServers);
  std::vector<std::unique_ptr<Server>> servers;
  std::string script;
  for (size_t i = 0; i < kServers; ++i) {
    servers.push_back(std::make_unique<Server>(program, addresses[i], data / std::to_string(i)));
    script = servers[i]->ask({"SCRIPT", "LOAD", kRelease}).text;
  }
  LoadLoop loop(load.callers, Seconds(load.warmup_s), Seconds(load.seconds));
  Redlock(servers, script, loop, load.callers).run();
  return loop.wait();
}

}  // namespace coordkit::bench::redis
