// Records of one type, packed in chunks and named by a 32-bit handle: no allocation and no pointer for each. Addresses stay
// valid while a record lives. A record's resources are freed when it is removed, or with the pool.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"

namespace coordkit {

template <typename Record, uint32_t kChunk = 1024>
class HandlePool {
 public:
  using Value = Record;
  using Handle = uint32_t;  // zero: none

  Record& operator[](Handle handle) { return chunk_of(handle)[handle % kChunk]; }
  const Record& operator[](Handle handle) const { return chunk_of(handle)[handle % kChunk]; }

  // Adds a blank record.
  Handle add() {
    Handle handle = 0;
    if (!free_.empty()) {
      handle = free_.back();
      free_.pop_back();
    } else {
      COORDKIT_CHECK(next_ != 0);
      if (next_ / kChunk == chunks_.size()) chunks_.push_back(std::make_unique<Chunk>());
      handle = next_++;
    }
    return handle;
  }
  // Leaves the slot empty, like a new record. When the last record is removed, the memory is freed, except for one chunk and
  // the list of its handles (REG_F76).
  void remove(Handle handle) {
    (*this)[handle] = Record();
    free_.push_back(handle);
    if (free_.size() < next_ - kFirst) return;
    free_.clear();
    if (free_.capacity() > kChunk) free_ = std::vector<Handle>();  // not {}, which would keep its room
    next_ = kFirst;
    chunks_.resize(1);
  }
  // Includes empty slots.
  template <typename Visit>
  void each(Visit visit) {
    for (Handle handle = kFirst; handle < next_; ++handle) visit(handle, (*this)[handle]);
  }

 private:
  static constexpr Handle kFirst = 1;
  using Chunk = std::array<Record, kChunk>;
  Chunk& chunk_of(Handle handle) const { return *chunks_[handle / kChunk]; }

  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Handle> free_;
  Handle next_ = kFirst;
};

}  // namespace coordkit
