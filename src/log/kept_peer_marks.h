// The replica's memory of its peers' disks (peer_marks_record.h), and the newest segment that has it on disk. Recycling must
// never remove the only copy.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "log/peer_marks_record.h"
#include "log/record.h"

namespace coordkit::log {

class KeptPeerMarks {
 public:
  void written(std::optional<std::vector<PeerMark>> marks, uint32_t segment) {
    marks_ = std::move(marks);
    segment_ = segment;
  }
  bool missing_in(uint32_t segment) const { return marks_ && segment_ != segment; }
  const std::optional<std::vector<PeerMark>>& marks() const { return marks_; }
  size_t batch_bytes() const { return marks_ ? align_up(record_bytes(marks_->size() * kPeerMarkBytes), kBlockBytes) : 0; }

 private:
  std::optional<std::vector<PeerMark>> marks_;
  uint32_t segment_ = 0;
};

}  // namespace coordkit::log
