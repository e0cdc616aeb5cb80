// Limits the costs of peers that have proved nothing. They are accepted connections without a verified hello, and bytes of
// peers that have not proved that they belong.
//
// Threads: the one that runs the io_context.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "transport/tcp/tcp_connection.h"

namespace coordkit::tcp {

class Unverified {
 public:
  explicit Unverified(const TcpOptions& options) : options_(options) {}  // the options must outlive this object

  // Evicts the oldest connection, so that unknown peers that hold their connections open keep no one out: a hello takes one
  // round trip.
  void make_room(const asio::ip::address& address);
  void add(std::shared_ptr<Connection> connection) { connections_.push_back(std::move(connection)); }
  void erase(const Connection& connection);  // has no effect on other connections
  void tick(TimePoint now, Duration pause);
  void close();

  // One budget for all peers that have proved nothing, so that any number of them costs no more than one may (FLT_S09).
  // False: it is used up.
  bool take_bytes(size_t bytes, TimePoint now);

 private:
  const TcpOptions& options_;
  std::vector<std::shared_ptr<Connection>> connections_;  // oldest first
  size_t bytes_ = 0;                                      // since the time below
  TimePoint bytes_since_;
};

}  // namespace coordkit::tcp
