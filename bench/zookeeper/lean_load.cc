#include <poll.h>

#include <algorithm>
#include <array>
#include <deque>
#include <stdexcept>

#include "bench/cluster/load_loop.h"
#include "bench/peers/socket.h"
#include "bench/zookeeper/jute.h"
#include "bench/zookeeper/zookeeper_cluster.h"
#include "bench/zookeeper/zookeeper_load.h"

namespace coordkit::bench::zookeeper {
namespace {

constexpr int kAnswerLimitMs = 10'000;

// A session on a connection of its own. Answers come in the order of the requests.
class Session {
 public:
  explicit Session(const std::string& address) : socket_(connect_to(address)) {
    send_all(socket_.get(), connect_frame(kSessionTimeoutMs));
    const std::string answer = wait();
    FrameReader reader(answer);
    reader.integer();
    if (reader.integer() <= 0) throw std::runtime_error("zookeeper opens no session");
  }

  int socket() const { return socket_.get(); }
  int32_t next_xid() { return ++xid_; }
  void add(const std::string& frame, size_t caller) {
    out_ += frame;
    asked_.push_back(caller);
  }
  void flush() {
    send_all(socket_.get(), out_);
    out_.clear();
  }
  void receive() {
    const size_t got = receive_some(socket_.get(), buffer_);
    if (got == 0) throw std::runtime_error("zookeeper closed a session");
    frames_.add({buffer_.data(), got});
  }
  std::optional<std::string> frame() { return frames_.next(); }
  size_t who_asked() {
    const size_t caller = asked_.front();
    asked_.pop_front();
    return caller;
  }
  // Before the load.
  void make(const std::string& path) {
    send_all(socket_.get(), create_frame(next_xid(), path, Lifetime::Persistent));
    const std::string answer = wait();
    const int32_t error = FrameReader(answer).header().error;
    if (error != 0 && error != kNodeExists) throw std::runtime_error("zookeeper refuses to make " + path);
  }

 private:
  std::string wait() {
    while (true) {
      if (std::optional<std::string> next = frame()) return *std::move(next);
      receive();
    }
  }

  support::Descriptor socket_;
  int32_t xid_ = 0;
  std::string out_;
  std::deque<size_t> asked_;
  FrameCutter frames_;
  std::array<char, 1 << 16> buffer_{};
};

class Callers {
 public:
  Callers(const std::string& address, size_t count) : callers_(count), running_(count) {
    for (size_t i = 0; i < std::min(count, kSessionsMax); ++i) sessions_.push_back(std::make_unique<Session>(address));
    sessions_[0]->make(kRoot);
    for (size_t i = 0; i < count; ++i) sessions_[0]->make(lock_of(i));
  }

  nlohmann::ordered_json run(const LoadOptions& load) {
    LoadLoop loop(callers_.size(), Seconds(std::max(load.warmup_s, kWarmupMin)), Seconds(load.seconds));
    loop_ = &loop;
    for (size_t number = 0; number < callers_.size(); ++number) create(number);
    std::vector<pollfd> waits;
    for (const auto& session : sessions_) waits.push_back({session->socket(), POLLIN, 0});
    while (running_ > 0) {
      for (const auto& session : sessions_) session->flush();
      if (poll(waits.data(), waits.size(), kAnswerLimitMs) <= 0) throw std::runtime_error("zookeeper does not answer");
      for (size_t i = 0; i < sessions_.size(); ++i) {
        if (waits[i].revents != 0) receive(*sessions_[i]);
      }
    }
    return loop.wait();
  }

 private:
  enum class Asked : uint8_t { Create, Children, Delete };
  struct Caller {
    Asked asked = Asked::Create;
    std::string node;
    TimePoint started;
  };

  Session& session_of(size_t number) { return *sessions_[number % sessions_.size()]; }

  void receive(Session& session) {
    session.receive();
    while (const std::optional<std::string> frame = session.frame()) answered(session.who_asked(), FrameReader(*frame));
  }

  void answered(size_t number, FrameReader reader) {
    Caller& caller = callers_[number];
    if (const int32_t error = reader.header().error; error != 0) {
      loop_->error(absl::InternalError("zookeeper answers " + std::to_string(error)));
      return create(number);
    }
    switch (caller.asked) {
      case Asked::Create:
        caller.node = reader.string();
        return ask(number, Asked::Children, children_frame(session_of(number).next_xid(), lock_of(number)));
      case Asked::Children:
        if (reader.strings().size() != 1) loop_->error(absl::InternalError("another caller wants a caller's own lock"));
        return ask(number, Asked::Delete, delete_frame(session_of(number).next_xid(), caller.node));
      case Asked::Delete: loop_->cycle(caller.started, Clock::now()); return create(number);
    }
  }

  void create(size_t number) {
    if (loop_->over()) {
      --running_;
      return loop_->caller_ended();
    }
    callers_[number].started = Clock::now();
    const std::string path = lock_of(number) + "/turn-";
    ask(number, Asked::Create, create_frame(session_of(number).next_xid(), path, Lifetime::EphemeralSequential));
  }

  void ask(size_t number, Asked what, const std::string& frame) {
    callers_[number].asked = what;
    session_of(number).add(frame, number);
  }

  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<Caller> callers_;
  size_t running_;
  LoadLoop* loop_ = nullptr;
};

}  // namespace

nlohmann::ordered_json run_lean_lock(const std::string& jars, const std::filesystem::path& data, const LoadOptions& load) {
  const Cluster cluster(jars, data);
  return Callers(cluster.leader(), load.callers).run(load);
}

}  // namespace coordkit::bench::zookeeper
