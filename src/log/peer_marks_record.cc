#include "log/peer_marks_record.h"

#include "base/fixed.h"
#include "coordkit/ports/log_store.h"

namespace coordkit::log {

std::string encode(std::span<const PeerMark> marks) {
  std::string out(marks.size() * kPeerMarkBytes, '\0');
  char* at = out.data();
  for (const PeerMark& mark : marks) {
    store_u64(at, mark.store.value());
    store_u64(at + 8, mark.boot.value());
    store_u64(at + 16, mark.start);
    store_u64(at + 24, mark.term.value());
    store_u64(at + 32, mark.vote.value());
    store_u64(at + 40, mark.match.index.value());
    store_u64(at + 48, mark.match.term.value());
    at += kPeerMarkBytes;
  }
  return out;
}

std::optional<std::vector<PeerMark>> decode_peer_marks(std::string_view payload) {
  if (payload.size() % kPeerMarkBytes != 0 || payload.size() / kPeerMarkBytes > kPeerMarksMax) return std::nullopt;
  std::vector<PeerMark> marks;
  for (const char* at = payload.data(); at != payload.data() + payload.size(); at += kPeerMarkBytes) {
    marks.push_back({.store = StoreId(load_u64(at)),
                     .boot = BootCounter(load_u64(at + 8)),
                     .start = load_u64(at + 16),
                     .term = Term(load_u64(at + 24)),
                     .vote = ReplicaId(load_u64(at + 32)),
                     .match = {Index(load_u64(at + 40)), Term(load_u64(at + 48))}});
  }
  return marks;
}

}  // namespace coordkit::log
