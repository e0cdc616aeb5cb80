// Three replicas in one thread, in a loop of the program's own: no thread, socket or file belongs to coordkit.
#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "node.h"

class Loop {
 public:
  Loop() {
    std::vector<coordkit::Peer> members;
    for (uint64_t id = 1; id <= 3; ++id) members.push_back({coordkit::ReplicaId(id), ""});  // an address is for a transport
    for (uint64_t id = 1; id <= 3; ++id) {
      const auto send = [this, id](const coordkit::Outbound& outbound) {
        node(outbound.to.value()).post(coordkit::MessageReceived{coordkit::ReplicaId(id), outbound.message});
      };
      nodes_.push_back(
          std::make_unique<Node>(id, members, coordkit::system_clock(), Node::Network{send, [this, id] { greet(id); }}));
    }
    for (uint64_t id = 1; id <= 3; ++id) greet(id);
  }

  void greet(uint64_t id) {
    for (uint64_t other = 1; other <= 3; ++other) {
      if (other != id) node(other).post(coordkit::PeerConnected{node(id).hello(coordkit::ReplicaId(other))});
    }
  }

  Node& node(uint64_t id) { return *nodes_[id - 1]; }

  // Runs turns until it is done. A program would poll its own sockets where this one only sleeps until the next turn is due.
  template <typename Done>
  void until(Done done) {
    while (!done()) {
      for (const auto& one : nodes_) one->turn();
      coordkit::Duration wait = std::chrono::seconds(1);
      for (const auto& one : nodes_) wait = std::min(wait, one->until_next_turn());
      const auto whole = std::chrono::ceil<std::chrono::milliseconds>(wait);
      if (whole.count() > 0) poll(nullptr, 0, static_cast<int>(whole.count()));
    }
  }

  // The answer of a call. `begin` starts it and passes it this callback.
  template <typename T, typename Begin>
  T wait_for(Begin begin) {
    std::optional<absl::StatusOr<T>> answer;
    begin([&answer](absl::StatusOr<T> given) { answer = std::move(given); });
    until([&] { return answer.has_value(); });
    if (!answer->ok()) throw std::runtime_error(answer->status().ToString());
    return **std::move(answer);
  }

 private:
  std::vector<std::unique_ptr<Node>> nodes_;
};
