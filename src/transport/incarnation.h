// Decides which process may speak for one peer. A replica is one process with one data directory. A second process that
// claims the same id is a restart, a stale survivor, a replaced disk or a copied directory. Only the first of these is
// harmless (FLT_P18).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "coordkit/types.h"

namespace coordkit {

struct Incarnation {
  StoreId store;
  BootCounter boot;
  uint64_t instance = 0;  // random, of the transport object
  friend bool operator==(const Incarnation&, const Incarnation&) = default;
};

class IncarnationGuard {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  enum class Verdict : uint8_t {
    Admit,
    Succeed,      // a newer boot, or the right store: admit, and close the connections of the other process
    RefuseOlder,  // an older boot of the store that is connected
    RefuseOther,  // another store while one is connected: the present one stays
    RefuseBoth,   // two live copies of one directory: close everything of this peer
  };

  explicit IncarnationGuard(Duration quarantine) : quarantine_(quarantine) {}

  // The store that the membership names; zero: not known.
  void prefer(StoreId right) { right_ = right; }
  // `connected`: there is a verified connection of this peer.
  Verdict judge(const Incarnation& next, bool connected, TimePoint now);

 private:
  struct Conflict {
    Incarnation last;  // the copy that sent last
    TimePoint until;   // moves on as long as both send
  };
  Duration quarantine_;
  StoreId right_;
  Incarnation current_;  // of the open connections
  std::optional<Conflict> conflict_;
};

}  // namespace coordkit
