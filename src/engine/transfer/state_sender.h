// The leader's side of sending states: the peers that need one, the view of our store it is read from, and the requests.
//
// One view serves every peer. It is offered at a slow pace to each peer that is behind and does not ask; a peer pulls range by
// range, one at a time, so a slow one slows only itself. A rate bounds what all of them together may take from live traffic. A
// view that no peer reads, that is old, or whose next entries are gone is closed and another one opened at a newer position;
// peers then find by sums what they already have.
// Invariants: at most one read per peer is in progress; each read was requested in this leadership; pinned() is not above any
// position that a peer is fetching or loading.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "coordkit/engine/engine.h"

namespace coordkit::engine {

class StateSender {
 public:
  explicit StateSender(const EngineOptions& options) : options_(options) {}

  // Reported by the core, in every turn of a leader.
  void behind(const std::vector<ReplicaId>& peers, LaggingTime now);
  // Messages of peers. None from another leadership gets here.
  void asked(ReplicaId peer, StateRequest request, LaggingTime now);
  void loading(ReplicaId peer, const StateLoading& news, LaggingTime now);
  // The host's answers. kDataLoss: our own rows are damaged.
  absl::Status opened(const ViewOpened& view, LaggingTime now);
  absl::Status read(ViewWasRead& read, Term term, LaggingTime now, std::vector<Outbound>& sends);

  // Collects what to do now. `base` of our log.
  void collect(Term term, Index base, LaggingTime now, std::vector<ViewOrder>& orders, std::vector<Outbound>& sends);
  // No longer leader.
  void stop(std::vector<ViewOrder>& orders);

  Index pinned() const;  // entries after it will be requested; zero: no peer is served
  // Why what peers ask for could not be read last; empty: it could, or nobody asks.
  const std::string& unsent() const { return unsent_; }
  LaggingTime next_deadline() const;

 private:
  struct Stream {
    LaggingTime until;     // forgotten after this, unless the core names the peer again
    LaggingTime offer_at;  // next offer, unless it asks earlier
    std::optional<StateRequest> waiting;
    Ticket reading;                   // zero: none
    std::optional<Position> loading;  // it has everything and is building its machines
    LaggingTime loading_until;        // unless it reports so again
  };
  struct View {
    ViewId id;
    std::optional<ViewFacts> facts;  // none: being opened
    LaggingTime opened;
    LaggingTime used;
  };

  void note(const absl::Status& why);
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
  std::string unsent_;
};

}  // namespace coordkit::engine
