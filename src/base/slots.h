// Records found by ids that give their place: a serial number and, in the low bits, the slot. Nothing is searched, ids rise
// in the order in which they are made, and slots are reused. A serial comes again after some days of the hardest work. The
// address of a record is stable until it is removed. For one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/check.h"

namespace coordkit {

template <typename Id, typename T>
class Slots {
 public:
  static constexpr uint64_t kSlotBits = 26;

  // `base`: added to all ids.
  explicit Slots(uint64_t base = 0) : base_(base) {}

  // `make(id)` returns the record.
  template <typename Make>
  Id add(Make make) {
    if (free_.empty()) grow();
    const uint32_t slot = free_.back();
    free_.pop_back();
    const Id id = new_id(slot);
    Page& page = page_of(slot);
    new (&page.records[slot % kPageSlots]) T(make(id));
    page.ids[slot % kPageSlots] = id;
    return id;
  }
  Id id_of_none() { return new_id(kMask); }
  // Null: it was removed.
  T* find(Id id) {
    const uint64_t slot = id.value() & kMask;
    if (slot >= slots()) return nullptr;
    Page& page = page_of(slot);
    return id && page.ids[slot % kPageSlots] == id ? &page.records[slot % kPageSlots] : nullptr;
  }
  // The record must be there. Allocates nothing.
  void remove(Id id) {
    const uint64_t slot = id.value() & kMask;
    page_of(slot).free(slot % kPageSlots);
    free_.push_back(static_cast<uint32_t>(slot));
  }
  void clear() {
    for (const Id id : ids()) remove(id);
  }

  size_t size() const { return slots() - free_.size(); }
  std::vector<Id> ids() const {  // in no order
    std::vector<Id> ids;
    for (const auto& page : pages_) {
      for (const Id id : page->ids) {
        if (id) ids.push_back(id);
      }
    }
    return ids;
  }

 private:
  static constexpr uint64_t kMask = (uint64_t{1} << kSlotBits) - 1;
  static constexpr size_t kPageSlots = 64;
  struct Page {
    Page() {}  // NOLINT(modernize-use-equals-default, cppcoreguidelines-pro-type-member-init): no record is there yet
    ~Page() {
      for (size_t place = 0; place < kPageSlots; ++place) {
        if (ids[place]) free(place);
      }
    }
    Page(const Page&) = delete;
    Page& operator=(const Page&) = delete;
    // The id is cleared first: a look-up from the record's destructor does not find it any more.
    void free(size_t place) {
      ids[place] = Id();
      std::destroy_at(&records[place]);
    }
    std::array<Id, kPageSlots> ids{};  // zero: free
    union {
      T records[kPageSlots];
    };
  };

  size_t slots() const { return pages_.size() * kPageSlots; }
  Page& page_of(uint64_t slot) const { return *pages_[slot / kPageSlots]; }
  void grow() {
    const size_t first = slots();
    COORDKIT_CHECK(first + kPageSlots <= kMask);
    if (free_.capacity() < first + kPageSlots) free_.reserve(std::max(2 * free_.capacity(), first + kPageSlots));
    pages_.push_back(std::make_unique<Page>());
    for (size_t i = kPageSlots; i > 0; --i) free_.push_back(static_cast<uint32_t>(first + i - 1));
  }
  Id new_id(uint64_t slot) {
    const Id id(base_ | (++last_serial_ << kSlotBits & ~base_) | slot);
    return id ? id : new_id(slot);
  }

  const uint64_t base_;
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<uint32_t> free_;
  uint64_t last_serial_ = 0;
};

}  // namespace coordkit
