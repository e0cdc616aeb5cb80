// What a UnixTransport has with one other replica: its send queues, and connections. Values, without threads.
#pragma once

#include <coordkit/ports/transport.h>

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "socket_stream.h"

namespace example {

using namespace coordkit;
using namespace std::chrono_literals;

using Time = std::chrono::steady_clock::time_point;

inline constexpr size_t kHelloBytesMax = 1 << 10, kFrameBytesMax = 32 << 20, kBatchBytes = 64 << 10;
inline constexpr size_t kFramesMax = 8192, kAbsentFramesMax = 64, kControlBytesMax = 4 << 20, kBulkBytesMax = 64 << 20;
inline constexpr Duration kRedialMin = 20ms;

// One lane of the send queue. If full, the oldest go.
struct Queue {
  void push(std::string body, size_t frames_max, size_t bytes_max) {
    bytes += body.size();
    bodies.push_back(std::move(body));
    while (bodies.size() > frames_max || (bytes > bytes_max && bodies.size() > 1)) pop();
  }
  std::string pop() {
    std::string body = std::move(bodies.front());
    bodies.pop_front();
    bytes -= body.size();
    return body;
  }
  std::deque<std::string> bodies;
  size_t bytes = 0;
};

struct Link {
  void push(Frame frame) {
    if (frame.body.size() > kFrameBytesMax) return;  // no one would take it
    const bool is_control = frame.lane == Lane::Control;
    (is_control ? control : bulk)
        .push(std::move(frame.body), up ? kFramesMax : kAbsentFramesMax, is_control ? kControlBytesMax : kBulkBytesMax);
  }
  // What waits for an earlier process of this peer is not for a later one.
  void meet(const Hello& hello) {
    if (last && (last->store != hello.store || last->boot != hello.boot)) control = bulk = {};
    last = hello;
  }
  bool waits() const { return !control.bodies.empty() || !bulk.bodies.empty(); }
  std::string pop() { return (control.bodies.empty() ? bulk : control).pop(); }  // control before bulk
  bool guest() const { return peer.address.empty(); }
  Peer peer;
  Queue control, bulk;
  std::optional<Hello> last;  // as reported
  bool up = false;            // as reported
  std::string reported;       // why it is missing, as reported; empty: unknown
  Time dial_at = {}, let_go_at = Time::max();
  Duration backoff = kRedialMin;
};

struct Connection {
  Connection(Descriptor socket, bool by_us, ReplicaId with, Time at)
      : stream(std::move(socket)), dialed(by_us), peer(with), received(at), pinged(at) {}
  bool established() const { return theirs.has_value() && !gone; }
  Stream stream;
  const bool dialed;
  ReplicaId peer;  // of one that came by itself: zero until its hello
  Time received, pinged;
  std::optional<ClusterId> announced;  // with our hello
  std::optional<Hello> theirs;
  bool gone = false;
};

}  // namespace example
