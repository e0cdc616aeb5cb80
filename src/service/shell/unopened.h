// An exception while a service is opened says that the system refuses a thread, a descriptor or memory. Everything that had
// been opened is closed by the time that it is caught.
#pragma once

#include <boost/system/system_error.hpp>
#include <string>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "base/errno_status.h"
#include "base/thread.h"
#include "coordkit/error.h"

namespace coordkit {

inline absl::Status not_opened(std::string_view service, const std::error_code& why, std::string_view lacking) {
  const std::string where = "cannot open the " + std::string(service) + ": " + std::string(lacking);
  if (why == std::errc::resource_unavailable_try_again) {  // of a thread, which no descriptor answers
    return make_error(
        Reason::LimitExceeded,
        where + ": " + why.message() + " (raise the limit of threads or of memory, of this user or of the container)");
  }
  return errno_status(why.value(), where);
}

// `open()` returns a status or what it has opened.
template <typename Open>
auto opened_or_refused(std::string_view service, Open open) -> decltype(open()) try {
  return open();
} catch (const UnstartedThread& error) {
  return not_opened(service, error.code(), "it can start no thread");
} catch (const std::system_error& error) {  // a descriptor's
  return not_opened(service, error.code(), "it needs a timer and an event (timerfd_create, eventfd)");
} catch (const boost::system::system_error& error) {  // Asio's
  return not_opened(service, error.code(), "it needs the kernel objects of Asio (epoll_create, eventfd, timerfd_create)");
}

}  // namespace coordkit
