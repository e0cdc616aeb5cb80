// Which connections are older than the newest certificates, and whose turn it is to be renewed or cut.
//
// Threads: the one that runs the io_context.
#pragma once

#include <memory>

#include "transport/tcp_links.h"

namespace coordkit::tcp {

class Renewals {
 public:
  explicit Renewals(const TcpOptions& options) : options_(options) {}  // they outlive it

  // Where the certificates are newer than a connection, it is redialed: one at a time, so that a reload causes no storm. If
  // refused, it is retried after a while. Null: none is due.
  std::shared_ptr<Link> next(const Links& links, TimePoint now) const;
  // Peers that reload renew the connections they dialed. A peer that has not done so for long must identify itself again: it
  // may no longer be trusted. What we dialed and could not renew stays as long as the certificate it was made with is good.
  struct Stale {
    std::shared_ptr<Connection> connection;  // null: none is due
    CloseReason reason = CloseReason::NoReason;
  };
  Stale next_stale(const Links& links, TimePoint now);
  // Whether a peer that was refused is, according to what has been trusted since the last reload, and long enough ago that
  // everyone could follow it.
  bool distrusts(CloseReason reason, TimePoint now) const;

 private:
  bool all_could_follow(TimePoint now) const;

  const TcpOptions& options_;
  uint64_t generation_ = 0;  // of the certificates, since
  TimePoint generation_since_;
};

}  // namespace coordkit::tcp
