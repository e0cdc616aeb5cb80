// Records found by ids that say where they lie: a serial number and, in the low bits, the slot. Nothing is searched, ids rise
// in the order of their making, and a slot is used again. A serial comes again after some days of the hardest work. The address
// of a record is stable until it is removed. For one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"

namespace coordkit {

template <typename Id, typename T>
class Slots {
 public:
  static constexpr uint64_t kSlotBits = 26;

  // `base`: in all ids.
  explicit Slots(uint64_t base = 0) : base_(base) {}

  // `make(id)` gives the record.
  template <typename Make>
  Id add(Make make) {
    if (free_.empty()) grow();
    const uint32_t slot = free_.back();
    free_.pop_back();
    const Id id = new_id(slot);
    at(slot).emplace(id, make);
    return id;
  }
  Id id_of_none() { return new_id(kMask); }
  // Null: it was removed.
  T* find(Id id) {
    const uint64_t slot = id.value() & kMask;
    if (slot >= slots()) return nullptr;
    std::optional<Record>& record = at(slot);
    return record && record->id == id ? &record->value : nullptr;
  }
  // It is there.
  void remove(Id id) {
    const uint64_t slot = id.value() & kMask;
    at(slot).reset();
    free_.push_back(static_cast<uint32_t>(slot));
  }
  void clear() {
    for (const Id id : ids()) remove(id);
  }

  size_t size() const { return slots() - free_.size(); }
  std::vector<Id> ids() const {  // in no order
    std::vector<Id> ids;
    for (uint64_t slot = 0; slot < slots(); ++slot) {
      if (const std::optional<Record>& record = at(slot)) ids.push_back(record->id);
    }
    return ids;
  }

 private:
  struct Record {
    template <typename Make>
    Record(Id of, Make& make) : id(of), value(make(of)) {}
    Id id;
    T value;
  };
  static constexpr uint64_t kMask = (uint64_t{1} << kSlotBits) - 1;
  static constexpr size_t kPageSlots = 64;
  using Page = std::array<std::optional<Record>, kPageSlots>;

  size_t slots() const { return pages_.size() * kPageSlots; }
  std::optional<Record>& at(uint64_t slot) const { return (*pages_[slot / kPageSlots])[slot % kPageSlots]; }
  void grow() {
    const size_t first = slots();
    COORDKIT_CHECK(first + kPageSlots <= kMask);
    pages_.push_back(std::make_unique<Page>());
    for (size_t i = kPageSlots; i > 0; --i) free_.push_back(static_cast<uint32_t>(first + i - 1));
  }
  Id new_id(uint64_t slot) { return Id(base_ | (++last_serial_ << kSlotBits & ~base_) | slot); }

  const uint64_t base_;
  std::vector<std::unique_ptr<Page>> pages_;  // of records; empty: free
  std::vector<uint32_t> free_;
  uint64_t last_serial_ = 0;
};

}  // namespace coordkit
