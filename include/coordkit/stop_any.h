// One stop token for several reasons to stop: a grant that is lost, the thread's own token, the end
// of the program.
//
//   std::jthread worker([&](std::stop_token thread) {
//     const coordkit::StopAny stop = coordkit::stop_any(grant.lost(), thread);
//     while (!stop.token().stop_requested() && grant.valid()) write_row(next(), grant.token());
//   });
//
// Use it wherever a stop token is taken: LockOptions::stop, std::condition_variable_any::wait.
//
// Threads: any.
// Lifetime: it listens as long as it lives. Its destructor waits for a stop that another thread is
// running. After that the tokens that it gave out do not stop any more.
#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <stop_token>
#include <vector>

#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

class StopAny {
 public:
  // Listens to all of them. A token that can never stop is left out; without any other, this one
  // never stops either.
  StopAny(std::initializer_list<std::stop_token> tokens) {
    for (const std::stop_token& token : tokens) listen(token);
  }
  StopAny(StopAny&&) noexcept = default;
  StopAny& operator=(StopAny&&) noexcept = default;

  // Stops as soon as one of the tokens does; at once if one had stopped already.
  std::stop_token token() const { return source_.get_token(); }
  operator std::stop_token() const { return token(); }  // NOLINT: meant to convert

 private:
  struct Stop {
    mutable std::stop_source source;
    void operator()() const { source.request_stop(); }
  };
  using Callback = std::stop_callback<Stop>;

  void listen(const std::stop_token& token) {
    if (token.stop_possible()) callbacks_.push_back(std::make_unique<Callback>(token, Stop{source_}));
  }

  std::stop_source source_;
  std::vector<std::unique_ptr<Callback>> callbacks_;
};

// Makes a StopAny that listens to all of them. Keep it for as long as its token is used: a
// temporary listens until the end of its statement.
template <std::convertible_to<std::stop_token>... Tokens>
[[nodiscard]] StopAny stop_any(const Tokens&... tokens) {
  return StopAny(std::initializer_list<std::stop_token>{std::stop_token(tokens)...});
}

}  // namespace coordkit
