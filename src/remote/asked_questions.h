// The questions of remotes that their gateway has put to the engine, by ticket. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/btree_map.h"
#include "coordkit/ports/state_machine.h"
#include "coordkit/types.h"

namespace coordkit::remote {

class AskedQuestions {
 public:
  // `gateway`: its number among those of one engine.
  explicit AskedQuestions(uint16_t gateway) : first_(kTicketBit | uint64_t{gateway} << 40) {}

  struct Asker {
    ReplicaId remote;
    uint64_t id = 0;  // of its question
    MachineId machine;
    std::string question;  // to judge the answer
  };
  Ticket add(Asker asker) {
    const Ticket ticket(first_ | ++last_);
    askers_.emplace(ticket, std::move(asker));
    return ticket;
  }
  // Its answer came, or is not wanted any more. Absent: it is none of them.
  std::optional<Asker> take(Ticket ticket) {
    const auto found = askers_.find(ticket);
    if (found == askers_.end()) return std::nullopt;
    std::optional<Asker> asker(std::move(found->second));
    askers_.erase(found);
    return asker;
  }

 private:
  static constexpr uint64_t kTicketBit = uint64_t{1} << 62;  // a client's tickets have the bit above

  const uint64_t first_;
  uint64_t last_ = 0;
  absl::btree_map<Ticket, Asker> askers_;
};

}  // namespace coordkit::remote
