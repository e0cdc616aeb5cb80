// The links of one TcpTransport, one for each other replica it knows: peers, and guests for which there is room.
//
// Threads: the one that runs the io_context, but find_for_sending(), which is for any.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "transport/tcp_link.h"

namespace coordkit::tcp {

class Links {
 public:
  // Both outlive it.
  Links(const TcpOptions& options, asio::io_context& io) : options_(options), io_(io) {}

  std::shared_ptr<Link> add(ReplicaId id);
  void erase(ReplicaId id);
  std::shared_ptr<Link> find(ReplicaId id) const;  // null: none
  std::shared_ptr<Link> find_for_sending(ReplicaId id) const;
  std::vector<std::shared_ptr<Link>> all() const;  // a copy: closing a connection may forget a link
  // Whether one more may stay that has proved that it belongs, or has not.
  bool room_for_guest(bool belongs) const;

 private:
  const TcpOptions& options_;
  asio::io_context& io_;
  mutable std::mutex mutex_;                          // held to change links_, and by other threads to read them
  std::map<ReplicaId, std::shared_ptr<Link>> links_;  // shared with pending handlers
};

// Sentences for the operator about the ways to peers. Each dialed connection is asked how much it has sent.
std::vector<std::string> loss_warnings(const Links& links, TimePoint now);

}  // namespace coordkit::tcp
