#include "sim/oracle/genesis_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "raft/log/entry_codec.h"
#include "sim/oracle/violation.h"

namespace coordkit::sim {
namespace {

std::vector<ReplicaId> ids_of(const std::vector<raft::Member>& voters) {
  std::vector<ReplicaId> ids;
  for (const raft::Member& voter : voters) ids.push_back(voter.id);
  std::ranges::sort(ids);
  return ids;
}

}  // namespace

// Unsynced, it may be gone.
void GenesisObserver::started(uint32_t node) {
  const LogImage& log = nodes_[node]->stores().log().submitted();
  if (!log.base.index) has_[node] = log.contains(Index(1)) ? log.chain(Index(1)) : 0;
}

void GenesisObserver::writes(uint32_t node, const LogWrite& write) {
  if (!lists_.differ()) return;
  if (!write.entries.empty() && write.entries.front().kind == raft::EntryKind::Genesis) stores(node, write.entries.front());
  if (write.hard_state && write.hard_state->term > Term(1)) votes(node);
}

void GenesisObserver::stores(uint32_t node, const raft::Entry& entry) {
  const uint64_t chain = chain_hash(0, entry);
  const auto [place, fresh] = geneses_.try_emplace(chain);
  Genesis& genesis = place->second;
  if (fresh) {
    const auto decoded = decode_genesis(entry.payload.view());
    COORDKIT_CHECK(decoded.ok());
    genesis.voters = decoded->configuration.voters;
    check_listed(node, genesis);
  }
  const auto former = geneses_.find(std::exchange(has_[node], chain));
  if (former != geneses_.end() && former != place) replaces(node, former->second, genesis);
}

void GenesisObserver::check_listed(uint32_t node, const Genesis& genesis) const {
  if (plan_.first_start.unsaid) return;
  const std::vector<ReplicaId> ids = ids_of(genesis.voters);
  for (const ReplicaId id : ids) {
    if (lists_.ever_listed(static_cast<uint32_t>(id.value() - 1), ids)) continue;
    throw Violation("INV_R04", fmt::format("n{} founds a cluster of {} with n{}, which was never started with their list",
                                           node + 1, ids.size(), id.value()));
  }
}

void GenesisObserver::replaces(uint32_t node, Genesis& former, const Genesis& next) {
  const LogImage& log = nodes_[node]->stores().log().submitted();
  if (log.hard_state.term > Term(1) || log.last() > Index(1)) {
    throw Violation("INV_R04", fmt::format("n{} gives up a genesis by which it has voted, in term {}", node + 1,
                                           log.hard_state.term.value()));
  }
  ++situations_[static_cast<size_t>(Situation::GenesisReplaced)];
  if (ids_of(former.voters) == ids_of(next.voters)) return;
  if (former.voted) throw Violation("INV_R04", fmt::format("n{} gives up a genesis by which others have voted", node + 1));
  former.given_up = true;
}

void GenesisObserver::votes(uint32_t node) const {
  const auto genesis = geneses_.find(has_[node]);
  if (genesis == geneses_.end()) return;
  if (genesis->second.given_up) {
    throw Violation("INV_R04", fmt::format("n{} votes by a genesis that another replica has given up", node + 1));
  }
}

void GenesisObserver::synced(uint32_t node) {
  const LogImage& log = nodes_[node]->stores().log().durable();
  if (!lists_.differ() || log.hard_state.term <= Term(1) || !log.contains(Index(1))) return;
  const auto genesis = geneses_.find(log.chain(Index(1)));
  if (genesis != geneses_.end()) genesis->second.voted = true;
}

void GenesisObserver::turned(uint32_t node) {
  if (!lists_.differ() || has_[node] == 0) return;
  if (nodes_[node]->engine()->leadership().role != raft::Role::Leader) return;
  if (led_ == 0) led_ = has_[node];
  if (led_ != has_[node]) throw Violation("INV_R04", fmt::format("n{} leads a second cluster", node + 1));
}

bool GenesisObserver::led_by_wrong_list() const {
  const auto genesis = geneses_.find(led_);
  return genesis != geneses_.end() && genesis->second.voters.size() != (plan_.founders == 0 ? plan_.nodes : plan_.founders);
}

bool GenesisObserver::left_behind(uint32_t node) const {
  const Engine* engine = nodes_[node]->engine();
  return led_ != 0 && engine != nullptr && engine->core() != nullptr && has_[node] != 0 && has_[node] != led_;
}

}  // namespace coordkit::sim
