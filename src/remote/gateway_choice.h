// The choice of the gateway that a remote dials, and of the time when it moves to the next one. A link that ends is dialed
// again by the transport. If that fails, or if the gateway knows no leader, the remote moves after a random time. So the
// remotes of a gateway that died do not arrive at another one all at once. Each has an order of its own, so they spread over
// the other gateways, too. The longest wait doubles with each move until a gateway serves.
//
// Pure: time and random bits come in as values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "coordkit/ports/clock.h"
#include "coordkit/types.h"

namespace coordkit::remote {

class GatewayChoice {
 public:
  // `jitter`: the longest wait before the first move. `patience`: how long a dial, or a gateway without a leader, is waited
  // for. `random`: the order.
  GatewayChoice(std::vector<std::string> addresses, Duration jitter, Duration patience, uint64_t random)
      : addresses_(in_order_of(std::move(addresses), random)), jitter_(jitter), patience_(patience) {}

  const std::string& address() const { return addresses_[at_]; }

  void served() {
    move_at_ = LaggingTime::max();
    moves_ = 0;
  }
  // A dial has begun, a link is made, or its gateway lacks a leader.
  void waits(LaggingTime now, uint64_t random) { move_at_ = now + patience_ + wait(random); }
  // The link is lost, cannot be made, or is refused; or its gateway asks to go to another one.
  void failed(LaggingTime now, uint64_t random) { move_at_ = std::min(move_at_, now + wait(random)); }

  LaggingTime next() const { return move_at_; }
  // True: it is time to move, and address() is the next one.
  bool moves(LaggingTime now, uint64_t random) {
    if (now < move_at_) return false;
    at_ = (at_ + 1) % addresses_.size();
    moves_ = std::min(moves_ + 1, kDoublings);
    waits(now, random);
    return true;
  }

 private:
  static constexpr unsigned kDoublings = 5;

  static std::vector<std::string> in_order_of(std::vector<std::string> addresses, uint64_t random) {
    for (size_t place = 0; place < addresses.size(); ++place) {
      const size_t left = addresses.size() - place;
      std::swap(addresses[place], addresses[place + random % left]);
      random /= left;
    }
    return addresses;
  }
  Duration wait(uint64_t random) const {
    const auto most = static_cast<uint64_t>((jitter_ * (1u << moves_)).count());
    return Duration(static_cast<int64_t>(random % (most + 1)));
  }

  const std::vector<std::string> addresses_;
  const Duration jitter_;
  const Duration patience_;
  size_t at_ = 0;
  unsigned moves_ = 0;  // without a gateway that served
  LaggingTime move_at_ = LaggingTime::max();
};

}  // namespace coordkit::remote
