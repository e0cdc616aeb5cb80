// How the operations of asio.h end, for programs that want another form than one absl::Status or
// absl::StatusOr:
//
//   Grant grant = co_await async_acquire(session, "jobs/7", {}, as_exception(use_awaitable));
//                             throws std::system_error
//   Grant grant = co_await async_acquire(session, "jobs/7", {}, as_error_code(use_awaitable));
//                             throws system_error of Boost
//   async_acquire(session, "jobs/7", {}, as_error_code([](error_code error, Grant grant) { ... }))
//
// as_error_code: completes with (boost::system::error_code, T), as Asio's own operations do. The
// code has coordkit's category (error.h): `error == Reason::Held`, or in the standard's words
// `error == std::errc::timed_out`. It carries neither the sentence nor the outcome.
// as_exception: completes with (std::exception_ptr, T). The exception is a std::system_error as
// Mutex throws it, whose what() has the sentence.
// In both, T is default-constructed if there is an error, and an operation without a result has no
// second argument. They wrap any token, and Asio's adapters go inside or outside:
// as_error_code(as_tuple(deferred)), bind_executor(strand, as_exception(handler)).
//
// In a race such as `async_acquire(...) || timer.async_wait(use_awaitable)` the operation that
// *succeeds* first wins. For Asio, an operation that ends with a refused StatusOr has succeeded. So
// use as_error_code or as_exception in a race: a refusal then does not win, and the race continues.
//
// DefaultToken is the token of operations that are called without one: they are awaitable.
#pragma once

// clang-format off
#include "coordkit/asio/asio_boost.h"  // before any header of Boost: it says which Boost is needed
// clang-format on

#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <exception>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/error.h"
#include "coordkit/export.h"

namespace COORDKIT_EXPORT coordkit {

using DefaultToken = boost::asio::use_awaitable_t<>;  // of operations without a token

namespace asio_detail {

inline std::error_code code_of_refusal(const absl::Status& status) {
  return status.ok() ? std::error_code() : make_error_code(reason_of(status).value_or(Reason::BrokenInvariant));
}

struct ErrorCodeForm {
  using Error = boost::system::error_code;
  static Error of(const absl::Status& status) { return code_of_refusal(status); }
};
struct ExceptionForm {
  using Error = std::exception_ptr;
  static Error of(const absl::Status& status) {
    if (status.ok()) return nullptr;
    return std::make_exception_ptr(std::system_error(code_of_refusal(status), std::string(sentence_of(status))));
  }
};

template <typename Form, typename Answer>
struct Signature;
template <typename Form>
struct Signature<Form, absl::Status> {
  using Type = void(typename Form::Error);
};
template <typename Form, typename T>
struct Signature<Form, absl::StatusOr<T>> {
  using Type = void(typename Form::Error, T);
};

// A handler of that signature, wrapped as a handler of an answer. Called once.
template <typename Form, typename Handler>
struct AnswerHandler {
  Handler handler;

  void operator()(const absl::Status& status) { std::move(handler)(Form::of(status)); }
  template <typename T>
  void operator()(absl::StatusOr<T> answer) {
    typename Form::Error error = Form::of(answer.status());
    std::move(handler)(std::move(error), answer.ok() ? *std::move(answer) : T());
  }
};

}  // namespace asio_detail

// A completion token, made by as_error_code or as_exception.
template <typename Form, typename Token>
struct TokenInForm {
  Token token;  // the token inside
};

// Makes `token` complete with (boost::system::error_code, T).
template <typename Token>
TokenInForm<asio_detail::ErrorCodeForm, std::decay_t<Token>> as_error_code(Token&& token) {
  return {std::forward<Token>(token)};
}
// Makes `token` complete with (std::exception_ptr, T).
template <typename Token>
TokenInForm<asio_detail::ExceptionForm, std::decay_t<Token>> as_exception(Token&& token) {
  return {std::forward<Token>(token)};
}

}  // namespace coordkit

namespace boost::asio {

template <typename Form, typename Token, typename Answer>
class async_result<coordkit::TokenInForm<Form, Token>, void(Answer)> {
 public:
  template <typename Initiation, typename InForm, typename... Args>
  static auto initiate(Initiation initiation, InForm&& in_form, Args&&... args) {
    return async_initiate<Token, typename coordkit::asio_detail::Signature<Form, Answer>::Type>(
        [](auto handler, Initiation begin, auto... given) {
          using Adapted = coordkit::asio_detail::AnswerHandler<Form, std::decay_t<decltype(handler)>>;
          std::move(begin)(Adapted{std::move(handler)}, std::move(given)...);
        },
        in_form.token, std::move(initiation), std::forward<Args>(args)...);
  }
};

// Uses the executor, allocator and cancellation slot of the handler inside.
template <template <typename, typename> class Associator, typename Form, typename Handler, typename Default>
struct associator<Associator, coordkit::asio_detail::AnswerHandler<Form, Handler>, Default> : Associator<Handler, Default> {
  using Outer = coordkit::asio_detail::AnswerHandler<Form, Handler>;
  static typename Associator<Handler, Default>::type get(const Outer& outer) noexcept {
    return Associator<Handler, Default>::get(outer.handler);
  }
  static auto get(const Outer& outer, const Default& otherwise) noexcept {
    return Associator<Handler, Default>::get(outer.handler, otherwise);
  }
};

}  // namespace boost::asio
