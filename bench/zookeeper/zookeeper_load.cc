#include "bench/zookeeper/zookeeper_load.h"

#define THREADED  // of the two libraries, the one whose calls come back on threads of its own
#include <zookeeper/zookeeper.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "bench/cluster/load_loop.h"
#include "bench/zookeeper/zookeeper_cluster.h"
#include "tools/support/child.h"

namespace coordkit::bench::zookeeper {
namespace {

using namespace std::chrono_literals;

constexpr auto kOpenLimit = 10s;

struct Close {
  void operator()(zhandle_t* session) const { zookeeper_close(session); }
};
using SessionHandle = std::unique_ptr<zhandle_t, Close>;

SessionHandle open_session(const std::string& address) {
  SessionHandle session(zookeeper_init(address.c_str(), nullptr, kSessionTimeoutMs, nullptr, nullptr, 0));
  const support::Deadline deadline = support::in(kOpenLimit);
  while (session && zoo_state(session.get()) != ZOO_CONNECTED_STATE) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("zookeeper opens no session");
    std::this_thread::sleep_for(5ms);
  }
  if (!session) throw std::runtime_error("zookeeper's client library opens no session");
  return session;
}

void make_node(const SessionHandle& session, const std::string& path) {
  const int code = zoo_create(session.get(), path.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE, 0, nullptr, 0);
  if (code != ZOK && code != ZNODEEXISTS) throw std::runtime_error("zookeeper refuses to make " + path + ": " + zerror(code));
}

// Threads: its session's, once it has begun.
class Caller {
 public:
  Caller(zhandle_t* session, std::string lock, LoadLoop& loop) : session_(session), lock_(std::move(lock)), loop_(loop) {}

  void acquire() {
    if (loop_.over()) return loop_.caller_ended();
    started_ = Clock::now();
    const std::string path = lock_ + "/turn-";
    const auto made = [](int code, const char* node, const void* caller) { self(caller).made(code, node); };
    asked(zoo_acreate(session_, path.c_str(), "", 0, &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL | ZOO_SEQUENCE, made, this));
  }

 private:
  // The library keeps the pointer that it is given as one to const.
  static Caller& self(const void* caller) { return *static_cast<Caller*>(const_cast<void*>(caller)); }

  void made(int code, const char* node) {
    if (code != ZOK) return failed(code);
    node_ = node;
    const auto listed = [](int result, const String_vector* children, const void* caller) {
      self(caller).listed(result, children);
    };
    asked(zoo_aget_children(session_, lock_.c_str(), 0, listed, this));
  }

  void listed(int code, const String_vector* children) {
    if (code != ZOK) return failed(code);
    if (children->count != 1) loop_.error(absl::InternalError("another caller wants a caller's own lock"));
    const auto deleted = [](int result, const void* caller) { self(caller).deleted(result); };
    asked(zoo_adelete(session_, node_.c_str(), -1, deleted, this));
  }

  void deleted(int code) {
    if (code != ZOK) return failed(code);
    loop_.cycle(started_, Clock::now());
    acquire();
  }

  void asked(int code) {
    if (code != ZOK) failed(code);
  }
  void failed(int code) {
    loop_.error(absl::InternalError(std::string("zookeeper answers: ") + zerror(code)));
    acquire();
  }

  zhandle_t* const session_;
  const std::string lock_;
  LoadLoop& loop_;
  std::string node_;
  TimePoint started_;
};

nlohmann::ordered_json run_callers(const std::string& leader, const LoadOptions& load) {
  zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
  std::vector<SessionHandle> sessions;
  for (size_t i = 0; i < std::min(load.callers, kSessionsMax); ++i) sessions.push_back(open_session(leader));
  make_node(sessions[0], kRoot);
  for (size_t i = 0; i < load.callers; ++i) make_node(sessions[0], lock_of(i));
  LoadLoop loop(load.callers, Seconds(std::max(load.warmup_s, kWarmupMin)), Seconds(load.seconds));
  std::vector<std::unique_ptr<Caller>> callers;
  for (size_t i = 0; i < load.callers; ++i) {
    callers.push_back(std::make_unique<Caller>(sessions[i % sessions.size()].get(), lock_of(i), loop));
  }
  for (const auto& caller : callers) caller->acquire();
  nlohmann::ordered_json result = loop.wait();
  sessions.clear();  // with their threads, which have called into callers and loop
  return result;
}

}  // namespace

nlohmann::ordered_json run_lock(const std::string& jars, const std::filesystem::path& data, const LoadOptions& load) {
  const Cluster cluster(jars, data);
  return run_callers(cluster.leader(), load);
}

}  // namespace coordkit::bench::zookeeper
