// The addresses behind a name, as the system finds them: by getaddrinfo(), in a thread of its own for each question.
//
// getaddrinfo() blocks for as long as the name service does not answer, and cannot be interrupted. So a name that gets no
// answer holds up no other name. Nothing waits for its thread: addresses that it finds after cancel() are dropped.
//
// Threads: the one that runs the io_context, which outlives this. Failure: an answer that says why.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coordkit/types.h"
#include "transport/tcp/address.h"
#include "transport/tcp/tcp_types.h"

namespace coordkit::tcp {

struct Found {
  std::vector<Tcp::endpoint> endpoints;
  std::string failed = {};  // the reason for having none, in the system's words; empty: there are some
};

class Lookup {
 public:
  using Done = std::function<void(const Found& found)>;

  explicit Lookup(asio::io_context& io) : io_(io) {}
  ~Lookup() { cancel(); }
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  // One question at a time. The io_context calls `done`, unless the question is cancelled before.
  void begin(HostPort name, Done done);
  bool pending() const { return question_ != nullptr; }
  bool takes_longer(TimePoint now, Duration than) const { return pending() && now - began_at_ > than; }
  void cancel();

 private:
  struct Question;
  static void ask(const std::shared_ptr<Question>& question, const HostPort& name);

  asio::io_context& io_;
  TimePoint began_at_;
  std::shared_ptr<Question> question_;  // shared with its thread; null: no question is pending
};

}  // namespace coordkit::tcp
