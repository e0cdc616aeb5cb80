// The leader's side of sending states: who needs one, which view of the own store it is read from, what is asked of it.
//
// One view serves every peer. It is offered at a calm pace to each peer that is behind and does not ask; a peer pulls range by
// range, one at a time, so a slow one slows only itself. A rate bounds what all of them together may take from life. A view
// that no peer reads, that has become old, or whose next entries are gone is closed and another one opened at a newer position;
// peers then tell by sums what they have already.
// Invariants: at most one read per peer is under way; what is read was asked for in this reign; pinned() is not above any
// position that a peer is fetching or loading.
#pragma once

#include <optional>
#include <vector>

#include "absl/container/btree_map.h"
#include "coordkit/engine.h"

namespace coordkit::engine {

class StateSender {
 public:
  explicit StateSender(const EngineOptions& options) : options_(options) {}

  // The core's word, in every turn of a leader.
  void behind(const std::vector<ReplicaId>& peers, LaggingTime now);
  // What peers say. Nothing of another reign gets here.
  void asked(ReplicaId peer, StateRequest request, LaggingTime now);
  void loading(ReplicaId peer, const StateLoading& news, LaggingTime now);
  // What the host answers. kDataLoss: our own rows are rotten.
  absl::Status opened(const ViewOpened& view, LaggingTime now);
  absl::Status read(ViewWasRead& read, Term term, LaggingTime now, std::vector<Outbound>& sends);

  // What is to be done now. `base` of the own log.
  void collect(Term term, Index base, LaggingTime now, std::vector<ViewOrder>& orders, std::vector<Outbound>& sends);
  // No longer leader.
  void stop(std::vector<ViewOrder>& orders);

  Index pinned() const;  // entries after it will be asked for; zero: no peer is served
  LaggingTime next_deadline() const;

 private:
  struct Stream {
    LaggingTime until;     // forgotten after this, unless the core names the peer again
    LaggingTime offer_at;  // next offer, unless it asks before
    std::optional<StateRequest> waiting;
    Ticket reading;                   // zero: none
    std::optional<Position> loading;  // it has everything and builds its machines
    LaggingTime loading_until;        // unless it says so again
  };
  struct View {
    ViewId id;
    std::optional<ViewFacts> facts;  // none: being opened
    LaggingTime opened;
    LaggingTime used;
  };

  bool view_wanted() const;
  bool over(const View& view, Index base, LaggingTime now) const;
  void close(std::vector<ViewOrder>& orders);

  const EngineOptions& options_;
  absl::btree_map<ReplicaId, Stream> streams_;
  std::optional<View> view_;
  ViewId last_view_;
  Ticket last_ticket_;
  LaggingTime open_again_ = LaggingTime::min();  // after a failure
  LaggingTime read_again_ = LaggingTime::min();  // the rate allows it
};

}  // namespace coordkit::engine
