#include "engine/transfer/state_sender.h"

#include <algorithm>
#include <utility>

namespace coordkit::engine {

void StateSender::behind(const std::vector<ReplicaId>& peers, LaggingTime now) {
  for (const ReplicaId peer : peers) {
    const auto [stream, fresh] = streams_.try_emplace(peer);
    if (fresh) stream->second.offer_at = now;
    stream->second.until = now + 4 * options_.raft.election_timeout;  // a new connection is probed first
  }
  absl::erase_if(streams_, [now](const auto& one) { return one.second.until < now; });
  if (streams_.empty()) unsent_.clear();
}

void StateSender::asked(ReplicaId peer, StateRequest request, LaggingTime now) {
  const auto stream = streams_.find(peer);
  if (stream == streams_.end() || !view_ || !view_->facts) return;
  stream->second.loading.reset();
  if (request.at != view_->facts->at) {
    stream->second.offer_at = now;
    return;
  }
  stream->second.offer_at = now + options_.state_view_idle;
  view_->used = now;
  if (!stream->second.reading) stream->second.waiting = std::move(request);
}

void StateSender::loading(ReplicaId peer, const StateLoading& news, LaggingTime now) {
  const auto stream = streams_.find(peer);
  if (stream == streams_.end()) return;
  stream->second.loading = news.at;
  stream->second.loading_until = now + 8 * options_.raft.election_timeout;
}

absl::Status StateSender::opened(const ViewOpened& view, LaggingTime now) {
  if (!view_ || view_->id != view.view) return absl::OkStatus();
  if (!view.facts.ok()) {
    view_.reset();
    open_again_ = now + options_.raft.election_timeout;
    note(view.facts.status());
    return absl::IsDataLoss(view.facts.status()) ? view.facts.status() : absl::OkStatus();
  }
  view_->facts = *view.facts;
  view_->opened = view_->used = now;
  for (auto& [peer, stream] : streams_) stream.offer_at = now;
  return absl::OkStatus();
}

absl::Status StateSender::read(ViewWasRead& read, Term term, LaggingTime now, std::vector<Outbound>& sends) {
  const auto stream = std::find_if(streams_.begin(), streams_.end(),
                                   [&](const auto& one) { return one.second.reading && one.second.reading == read.ticket; });
  const bool current = view_ && view_->id == read.view && view_->facts;
  if (stream != streams_.end()) {
    stream->second.reading = Ticket();
    note(read.rows.status());
  }
  if (!read.rows.ok()) {
    if (current) {  // closed and opened again, later
      view_->opened = now - options_.state_view_max;
      open_again_ = now + options_.raft.election_timeout;
    }
    return absl::IsDataLoss(read.rows.status()) ? read.rows.status() : absl::OkStatus();
  }
  if (stream == streams_.end() || !current) return absl::OkStatus();
  uint64_t bytes = 0;
  for (const CheckpointBatch::Row& row : read.rows->rows) bytes += row.key.size() + row.value->size();
  const double seconds = static_cast<double>(bytes) / static_cast<double>(options_.state_bytes_per_second);
  read_again_ = std::max(read_again_, now) + std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  sends.push_back({stream->first, StateChunk{term, view_->facts->at, *std::move(read.rows)}});
  return absl::OkStatus();
}

// Damage is reported where it is repaired.
void StateSender::note(const absl::Status& why) { unsent_ = absl::IsDataLoss(why) ? "" : std::string(why.message()); }

bool StateSender::view_wanted() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const auto& one) { return !one.second.loading; });
}

bool StateSender::over(const View& view, Index base, LaggingTime now) const {
  if (!view.facts) return false;
  return view.facts->at.index < base || now - view.used >= options_.state_view_idle ||
         now - view.opened >= options_.state_view_max;
}

void StateSender::close(std::vector<ViewOrder>& orders) {
  orders.emplace_back(ViewClose{view_->id});
  view_.reset();
  for (auto& [peer, stream] : streams_) {
    stream.waiting.reset();
    stream.reading = Ticket();
  }
}

void StateSender::collect(Term term, Index base, LaggingTime now, std::vector<ViewOrder>& orders,
                          std::vector<Outbound>& sends) {
  for (auto& [peer, stream] : streams_) {
    if (stream.loading && stream.loading_until <= now) stream.loading.reset();
  }
  if (view_ && (!view_wanted() || over(*view_, base, now))) close(orders);
  if (!view_ && view_wanted() && now >= open_again_) {
    last_view_ = last_view_.next();
    view_ = View{last_view_, std::nullopt, now, now};
    orders.emplace_back(ViewOpen{last_view_});
  }
  if (!view_ || !view_->facts) return;
  for (auto& [peer, stream] : streams_) {
    if (!stream.loading && stream.offer_at <= now && !stream.reading) {
      sends.push_back({peer, StateOffer{term, view_->facts->at, view_->facts->digest}});
      stream.offer_at = now + options_.raft.election_timeout;
    }
    if (!stream.waiting || stream.reading || now < read_again_) continue;
    const StateRequest request = *std::exchange(stream.waiting, std::nullopt);
    last_ticket_ = last_ticket_.next();
    stream.reading = last_ticket_;
    orders.emplace_back(ViewRead{view_->id, last_ticket_, request.range, options_.state_chunk_bytes, request.sum});
  }
}

void StateSender::stop(std::vector<ViewOrder>& orders) {
  streams_.clear();
  unsent_.clear();
  if (view_) close(orders);
}

Index StateSender::pinned() const {
  Index lowest;
  const auto pin = [&lowest](Index index) { lowest = lowest ? std::min(lowest, index) : index; };
  for (const auto& [peer, stream] : streams_) {
    if (stream.loading) pin(stream.loading->index);
  }
  if (view_ && view_->facts) pin(view_->facts->at.index);
  return lowest;
}

LaggingTime StateSender::next_deadline() const {
  LaggingTime next = LaggingTime::max();
  if (streams_.empty()) return next;
  for (const auto& [peer, stream] : streams_) {
    next = std::min(next, stream.until + Duration(1));
    if (stream.loading) {
      next = std::min(next, stream.loading_until);
      continue;
    }
    if (!view_ || !view_->facts) continue;
    if (!stream.reading) next = std::min(next, stream.offer_at);
    if (stream.waiting && !stream.reading) next = std::min(next, read_again_);
  }
  if (!view_ && view_wanted()) next = std::min(next, open_again_);
  if (view_ && view_->facts) {
    next = std::min({next, view_->used + options_.state_view_idle, view_->opened + options_.state_view_max});
  }
  return next;
}

}  // namespace coordkit::engine
