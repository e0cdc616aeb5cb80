// Door 1 for a process without a replica: the same sessions, locks, keys and objects, by a link to
// any replica of the cluster, its gateway. It has no state, no log and no vote. 200 processes need
// three replicas, not 200.
//
//   auto remote = Remote::open({.cluster = "shop",
//                               .gateways = {"10.0.0.1:7500", "10.0.0.2:7500", "10.0.0.3:7500"},
//                               .security = SharedSecret{secret_of_remotes}});
//   auto session = (*remote)->open_session();
//   Mutex mutex(*session, "orders");
//
// The replicas name these addresses in ReplicaOptions::remotes. Sessions keep their deadlines by
// this process's own clock. When the gateway dies, the remote moves to another one by itself: its
// sessions, holds and calls under way are not affected, and each call runs once (docs/remote.md).
//
// Threads: all methods are thread-safe, and block the caller unless their name says async. The
// remote owns four threads: two coordkit/loop, coordkit/notify and coordkit/timer, as a Replica.
// With an executor of yours it owns the last two, and one for the network. The look-up of a name
// adds coordkit/lookup.
// Lifetime: handles may outlive it. Then every call is kFailedPrecondition and valid() is false.
// Errors: as those of the same calls at a replica. While no gateway serves it, a call waits for
// one until its deadline, and then ends with kUnavailable (NoLeader) if nothing was done.
// Example: examples/23_workers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/operate/security.h"
#include "coordkit/ports/clock.h"
#include "coordkit/ports/executor.h"
#include "coordkit/service.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

// The link of a remote to its gateway.
struct LinkState {
  // How far it is.
  enum class Kind : uint8_t {
    Dialing,  // no gateway is connected
    Waiting,  // one is connected, and knows no leader
    Serving,  // calls are answered
  };
  Kind kind = Kind::Dialing;
  std::string gateway;  // the address that is dialed, or connected
  std::string why;      // a sentence, unless Serving: what went wrong last. Empty: nothing yet
  friend bool operator==(const LinkState&, const LinkState&) = default;
};

struct RemoteOptions {       // the options of Remote::open(); validate() checks them
  std::string cluster = {};  // its name, as the replicas have it. Not empty
  // Where replicas listen for remotes: "host:port" or "[IPv6]:port". A name may have several
  // addresses, and is looked up again at each dial. The first one is drawn at random.
  std::vector<std::string> gateways = {};
  // The name of this remote, for permissions and the audit (docs/remote.md). Empty: it has none. At
  // most 64 letters, digits and ". _ - / @ :". Remotes may share one. Needs feature level 7.
  std::string name = {};
  // Must be set. As ReplicaOptions::remotes has it: never the secret of the members.
  std::variant<std::monostate, PlainText, SharedSecret> security = {};
  // A gateway that has been silent for so long is left for another one. Two fifths of the shortest
  // TTL are a good value. Legal: 50 ms to 1 min.
  Duration silence = std::chrono::seconds(2);
  // As the replicas have it, or they refuse it. Legal: 0 to 500'000.
  uint32_t rate_error_ppm = 10'000;
  Duration drain = std::chrono::milliseconds(250);     // close()'s wait for releases. Legal: 0+
  Duration busy_poll = Duration::zero();               // as ReplicaOptions::busy_poll
  const Clock* clock = nullptr;                        // yours; null: the system's
  std::shared_ptr<Executor> executor = {};             // yours; null: a thread of its own
  std::function<void(const LinkState&)> on_link = {};  // each change, once, on the callback thread
  // Errors that stop nothing: a callback of yours threw. Each once, on the callback thread.
  std::function<void(const absl::Status&)> on_error = {};

  absl::Status validate() const;  // kInvalidArgument listing every problem
};

class RemoteHost;

class Remote final : public Service {
 public:
  // Starts, and dials a gateway. Does not wait for it: wait_ready() does. Errors:
  // kInvalidArgument (options; the sentence lists every problem), kResourceExhausted
  // (LimitExceeded: no thread, descriptor or memory).
  static absl::StatusOr<std::unique_ptr<Remote>> open(RemoteOptions options);
  ~Remote();  // as ~Replica()

  // The link now. health() has its sentence, too.
  LinkState link() const;

 private:
  explicit Remote(std::shared_ptr<RemoteHost> host);
  const RemoteHost& link_;  // the Service's host
};

}  // namespace coordkit
