// The links of one TcpTransport, one for each other replica that it knows: peers, and guests while there is room.
//
// Threads: the one that runs the io_context, except find_for_sending(), which any thread may call.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "transport/tcp/tcp_link.h"

namespace coordkit::tcp {

class Links {
 public:
  // Both must outlive this object.
  Links(const TcpOptions& options, asio::io_context& io) : options_(options), io_(io) {}

  std::shared_ptr<Link> add(ReplicaId id);
  void erase(ReplicaId id);
  std::shared_ptr<Link> find(ReplicaId id) const;  // null: not found
  std::shared_ptr<Link> find_for_sending(ReplicaId id) const;
  std::vector<std::shared_ptr<Link>> all() const;  // a copy: closing a connection may forget a link
  // Whether there is room for one more guest: one that has proved that it belongs, or one that has not.
  bool room_for_guest(bool belongs) const;

 private:
  const TcpOptions& options_;
  asio::io_context& io_;
  mutable std::mutex mutex_;                          // held to change links_, and by other threads to read them
  std::map<ReplicaId, std::shared_ptr<Link>> links_;  // shared with pending handlers
};

// Sentences for the operator about the ways to peers. Each dialed connection reports how much it has sent.
std::vector<std::string> loss_warnings(const Links& links, TimePoint now);

}  // namespace coordkit::tcp
