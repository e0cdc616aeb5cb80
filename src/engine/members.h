// Who is connected, and in what capacity each of them is listened to (decisions/0007). The configuration in force decides, from
// its append on, not the applied one: whoever votes or leads by it must be heard before anything of it is committed.
//
//   Member    the data directory that the configuration names for this id
//   Guest     of our cluster, but not named: a member by entries that we do not have yet, or one that was removed. The core
//             judges what it says (thesis 4.1); none of it counts towards a quorum
//   Impostor  another data directory than the one named: a wiped, copied or exchanged disk. It is not listened to (R03, R47,
//             FLT_P16), unless it leads: then it is our configuration that is old
//   Stranger  not connected, or of no cluster yet and not named
#pragma once

#include <optional>
#include <vector>

#include "absl/container/btree_map.h"
#include "coordkit/message.h"
#include "coordkit/raft/entry.h"
#include "coordkit/transport.h"

namespace coordkit::engine {

class Members {
 public:
  enum class Standing : uint8_t { Stranger, Guest, Impostor, Member };

  void connected(const Hello& hello);
  void lost(ReplicaId peer) { peers_.erase(peer); }
  // Another one is in force. Answers who may speak from here on as a member and could not before.
  std::vector<Hello> follow(const raft::Configuration& configuration, ClusterId cluster);

  Standing standing(ReplicaId peer) const;
  bool hears(ReplicaId from, const Message& message, ReplicaId leader) const;
  const Hello* hello_of(ReplicaId peer) const;

  // Named members that have not shown that they know the genesis.
  std::vector<ReplicaId> uninitiated() const;
  void initiated(ReplicaId peer);
  std::vector<ReplicaId> of(Standing standing) const;

 private:
  struct Connected {
    Hello hello;
    Standing standing = Standing::Stranger;
    bool initiated = false;
  };
  Standing judge(const Hello& hello) const;

  raft::Configuration configuration_;
  ClusterId cluster_;
  absl::btree_map<ReplicaId, Connected> peers_;
};

}  // namespace coordkit::engine
