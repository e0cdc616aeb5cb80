#include "transport/tcp/lookup.h"

#include <netdb.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "base/descriptor.h"
#include "base/thread.h"

namespace coordkit::tcp {
namespace {

// Keeps this library mapped, if it is part of one that is unloaded, until the thread is gone. dlclose() leaves a library
// mapped if it has a destructor to run at the end of a thread.
struct Anchor {
  ~Anchor() { held = false; }
  volatile bool held = false;
};
thread_local Anchor anchor;

constexpr auto kTryAgain = std::chrono::milliseconds(10);

Found addresses_of(const HostPort& name) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_protocol = IPPROTO_TCP;
  addrinfo* list = nullptr;
  const char* host = name.host.empty() ? nullptr : name.host.c_str();  // null: this machine
  const StandardStreamsKept kept;
  const int error = ::getaddrinfo(host, name.port.c_str(), &hints, &list);
  if (error == EAI_SYSTEM) return {{}, std::generic_category().message(errno)};
  if (error != 0) return {{}, ::gai_strerror(error)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, ::freeaddrinfo);
  Found found;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    if (one->ai_family != AF_INET && one->ai_family != AF_INET6) continue;
    Tcp::endpoint& endpoint = found.endpoints.emplace_back();
    endpoint.resize(one->ai_addrlen);
    std::memcpy(endpoint.data(), one->ai_addr, one->ai_addrlen);
  }
  if (found.endpoints.empty()) found.failed = "it has no address";
  return found;
}

}  // namespace

struct Lookup::Question {
  Done done;                       // used by the io_context's thread; null: cancelled
  std::atomic<bool> begun{false};  // its thread holds the anchor
  std::mutex mutex;                // guards `io`
  asio::io_context* io = nullptr;  // null: cancelled, or answered

  void answer(const std::shared_ptr<Question>& self, Found found) {
    const std::lock_guard lock(mutex);
    if (io == nullptr) return;
    asio::post(*io, [self, found = std::move(found)] {
      self->let_go();
      if (const Done wanted = std::exchange(self->done, nullptr)) wanted(found);
    });
  }
  // True: the question has its answer, or needs none any more.
  bool try_answer(const std::shared_ptr<Question>& self, const Found& found) noexcept try {
    answer(self, found);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
  // Its thread is no longer inside the io_context, and will not be again.
  void let_go() {
    const std::lock_guard lock(mutex);
    io = nullptr;
  }
};

void Lookup::begin(HostPort name, Done done) {
  began_at_ = SteadyClock::now();
  question_ = std::make_shared<Question>();
  question_->io = &io_;
  question_->done = [this, done = std::move(done)](const Found& found) {
    question_.reset();
    done(found);
  };
  try {
    Thread::detached("coordkit/lookup", [question = question_, name = std::move(name)] { ask(question, name); });
  } catch (const std::exception& error) {  // no thread, or no memory for it
    question_->begun = true;
    question_->answer(question_, {{}, std::string("there is no thread for it: ") + error.what()});
  }
}

void Lookup::ask(const std::shared_ptr<Question>& question, const HostPort& name) {
  anchor.held = true;
  question->begun = true;
  question->begun.notify_one();
  Found found;
  try {
    found = addresses_of(name);
  } catch (const std::bad_alloc&) {
    found = {{}, "no memory"};
  }
  while (!question->try_answer(question, found)) std::this_thread::sleep_for(kTryAgain);  // until there is memory for it
}

void Lookup::cancel() {
  const std::shared_ptr<Question> question = std::exchange(question_, nullptr);
  if (!question) return;
  question->begun.wait(false);
  question->done = nullptr;
  question->let_go();
}

}  // namespace coordkit::tcp
