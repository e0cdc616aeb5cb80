// Which connections are older than the newest certificates, and which of them is renewed or cut next.
//
// Threads: the one that runs the io_context.
#pragma once

#include <memory>

#include "transport/tcp/tcp_links.h"

namespace coordkit::tcp {

class Renewals {
 public:
  explicit Renewals(const TcpOptions& options) : options_(options) {}  // the options must outlive this object

  // Where the certificates are newer than a connection, the peer is redialed: one at a time, so that a reload causes no
  // storm. A refused renewal is retried after a while. Null: none is due.
  std::shared_ptr<Link> next(const Links& links, TimePoint now) const;
  // Peers that reload renew the connections that they dialed. A peer that has not done so for long must identify itself
  // again: it may no longer be trusted. A connection that we dialed and could not renew stays as long as the certificate with
  // which it was made is good.
  struct Stale {
    std::shared_ptr<Connection> connection;  // null: none is due
    CloseReason reason = CloseReason::NoReason;
  };
  Stale next_stale(const Links& links, TimePoint now);
  // Whether a refused peer is distrusted by the certificates trusted since the last reload. The reload must be long enough
  // ago that all peers could follow it.
  bool distrusts(CloseReason reason, TimePoint now) const;

 private:
  bool all_could_follow(TimePoint now) const;

  const TcpOptions& options_;
  uint64_t generation_ = 0;  // of the certificates, since the time below
  TimePoint generation_since_;
};

}  // namespace coordkit::tcp
