// CHECK stays enabled in release and states one fact. If the fact does not hold, the replica must stop before it can do harm.
// The check throws CheckFailure, which the engine's turn catches and turns into a fail-stop with the text. Nothing is
// printed, and the host process lives on.
#pragma once

#include <exception>
#include <string>

namespace coordkit {

class CheckFailure : public std::exception {
 public:
  CheckFailure(const char* fact, const char* file, int line, std::string context);
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

[[noreturn]] void check_failed(const char* fact, const char* file, int line, std::string context = {});

}  // namespace coordkit

#define COORDKIT_CHECK(fact)                               \
  do {                                                     \
    if (!(fact)) [[unlikely]]                              \
      ::coordkit::check_failed(#fact, __FILE__, __LINE__); \
  } while (false)

// The same with an invariant's id or other context. The context is built only on failure.
#define COORDKIT_CHECK_MSG(fact, context)                             \
  do {                                                                \
    if (!(fact)) [[unlikely]]                                         \
      ::coordkit::check_failed(#fact, __FILE__, __LINE__, (context)); \
  } while (false)
