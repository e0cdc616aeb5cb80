// The border between C and C++: arguments are checked on the way in, statuses become plain structs on the way out, and no
// exception passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "coordkit/c/coordkit_remote.h"
#include "coordkit/error.h"
#include "coordkit/session.h"
#include "coordkit/types.h"

namespace coordkit::c {

// These fill the report, unless it is null, and answer its status. They allocate nothing.
coordkit_status answer(const absl::Status& status, coordkit_error* error) noexcept;
coordkit_status no_memory(coordkit_error* error) noexcept;
coordkit_status threw(std::string_view what, coordkit_error* error) noexcept;
absl::Status fork_of_opener();  // kFailedPrecondition (Closed)

// Answers what the call answers, or `otherwise` if it throws.
template <typename Answer, typename Call>
Answer unless_thrown(Answer otherwise, Call&& call) noexcept {
  try {
    return std::forward<Call>(call)();
  } catch (...) {
    return otherwise;
  }
}

// Runs a call, which answers a status.
template <typename Call>
coordkit_status guarded(coordkit_error* error, Call&& call) noexcept {
  try {
    return answer(std::forward<Call>(call)(), error);
  } catch (const std::bad_alloc&) {
    return no_memory(error);
  } catch (const std::exception& thrown) {
    return threw(thrown.what(), error);
  } catch (...) {
    return threw("an exception that is no std::exception", error);
  }
}

// The time to wait. Negative, or too long for a Duration: for ever.
Duration timeout_from(int64_t milliseconds);
// Rounded down, and never negative.
int64_t milliseconds_of(Duration time);

// Where the structs of version 0.1 end. A later version appends fields, and leaves these alone.
constexpr size_t first_size(const coordkit_remote_options*) {
  return offsetof(coordkit_remote_options, link_tag) + sizeof(uint64_t);
}
constexpr size_t first_size(const coordkit_session_options*) {
  return offsetof(coordkit_session_options, phase_tag) + sizeof(uint64_t);
}
constexpr size_t first_size(const coordkit_lock_options*) {
  return offsetof(coordkit_lock_options, max_hold_ms) + sizeof(int64_t);
}
constexpr size_t first_size(const coordkit_write_options*) {
  return offsetof(coordkit_write_options, session) + sizeof(const coordkit_session*);
}
constexpr size_t first_size(const coordkit_completion*) { return offsetof(coordkit_completion, deleted) + sizeof(uint64_t); }

// The arguments of one call. The first that is wrong decides status().
class Arguments {
 public:
  // A handle, or a place for an answer.
  void needs(const void* pointer, std::string_view what) {
    if (pointer == nullptr) refuse(Reason::InvalidArgument, what, " is null");
  }
  std::string text(std::string_view what, const char* data, size_t size);
  std::string text(std::string_view what, coordkit_bytes bytes) { return text(what, bytes.data, bytes.size); }
  std::string key(const char* data, size_t size);  // not empty
  void refuse(std::string_view sentence) { refuse(Reason::InvalidArgument, sentence, {}); }
  // A span of time that is not negative. Zero: `otherwise`.
  Duration span(std::string_view what, int64_t milliseconds, Duration otherwise);
  // A copy of options. Null: all zero. Those of an older program are shorter, those of a newer one longer.
  template <typename Options>
  Options options(const Options* given) {
    Options known{};
    if (given != nullptr) copy_options(given, first_size(given), &known, sizeof known);
    return known;
  }
  // The size of a struct that the library writes: not below `first`.
  void size(std::string_view what, size_t given, size_t first);

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

 private:
  void refuse(Reason reason, std::string_view what, std::string_view why);
  // `given` begins with its size. Copies what both know, and refuses more if that is not zero.
  void copy_options(const void* given, size_t first, void* known, size_t known_size);

  absl::Status status_;
};

}  // namespace coordkit::c
