// A plug-in: locks once, and lets the exception of an unavailable lock propagate to its host.
#include "../one_lock.h"

extern "C" int visit(const char* name);

extern "C" int visit(const char* name) {
  std::optional<coordkit::Session> me;
  const int code = with_replica([&](coordkit::Replica& replica) {
    me = replica.open_session({.ttl = std::chrono::seconds(5)}).value();
    coordkit::Mutex mutex(*me, name);
    const std::lock_guard lock(mutex);
    return mutex.token().value() > 0 ? 0 : 1;
  });
  if (code != 0) return code;
  coordkit::Mutex mutex(*me, name);
  mutex.lock();  // the replica is gone: throws
  return 1;
}
