#include "name_service.h"

#include <dlfcn.h>
#include <netdb.h>

#include <condition_variable>
#include <mutex>
#include <string_view>

namespace coordkit::testkit {
namespace {

std::mutex names_mutex;
std::condition_variable names_changed;
bool names_silent = false;
bool names_hidden = false;
int names_asked = 0;
int names_answered = 0;  // times
int names_waiting = 0;

// True: it got no answer for a while, and none now.
bool is_kept_waiting(const char* host) {
  if (host == nullptr || !std::string_view(host).ends_with("silent.test")) return false;
  std::unique_lock lock(names_mutex);
  ++names_asked;
  ++names_waiting;
  names_changed.notify_all();
  names_changed.wait(lock, [round = names_answered] { return !names_silent || names_answered != round; });
  --names_waiting;
  names_changed.notify_all();
  return true;
}

bool is_hidden() {
  const std::lock_guard lock(names_mutex);
  if (!names_hidden) return false;
  ++names_asked;
  names_changed.notify_all();
  return true;
}

}  // namespace

NameService::NameService() {
  const std::lock_guard lock(names_mutex);
  names_silent = true;
  names_hidden = false;
  names_asked = 0;
}

void NameService::wait_asked(int count) {
  std::unique_lock lock(names_mutex);
  names_changed.wait(lock, [count] { return names_asked >= count; });
}

int NameService::asked() const {
  const std::lock_guard lock(names_mutex);
  return names_asked;
}

void NameService::hide() {
  const std::lock_guard lock(names_mutex);
  names_hidden = true;
}

void NameService::answer() {
  const std::lock_guard lock(names_mutex);
  ++names_answered;
  names_changed.notify_all();
}

void NameService::release() {
  std::unique_lock lock(names_mutex);
  names_silent = false;
  names_changed.notify_all();
  names_changed.wait(lock, [] { return names_waiting == 0; });
}

}  // namespace coordkit::testkit

extern "C" int getaddrinfo(const char* host, const char* service, const addrinfo* hints, addrinfo** found) {
  if (coordkit::testkit::is_kept_waiting(host)) return EAI_AGAIN;
  const bool known = host != nullptr && std::string_view(host) == "known.test";
  if (known && coordkit::testkit::is_hidden()) return EAI_NONAME;
  static const auto next = reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  if (host != nullptr && std::string_view(host) == "both.test") {
    const int failed = next("127.0.0.1", service, hints, found);
    return failed != 0 ? failed : next("127.0.0.2", service, hints, &(*found)->ai_next);
  }
  return next(known ? "127.0.0.1" : host, service, hints, found);
}
