// The records of the lock table. A Lock exists per name in use, an Owner per thread of control with a claim, and a Claim per
// acquire that waits or holds.
//
// A claim is first a waiter, then a hold: the same object moves from the queues of its locks to their holds. It is linked
// into each of its locks through a Place. Nearly every claim has exactly one Place; a multi-lock has several
// (docs/semantics.md S-53). The table owns the records, which are linked by pointers; none of this leaves the folder.
// Thousands of claims may wait at the same time, so rarely used fields are stored apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "base/linked.h"
#include "coordkit/types.h"
#include "lock/lock_text.h"
#include "lock/terms.h"

namespace coordkit::lock {

struct Claim;
struct Lock;

// A claim's place in one lock: in its queue while the claim waits, among its holds afterwards. The first place of a claim is
// the claim itself.
struct Place {
  Lock* lock = nullptr;
  Place* before = nullptr;
  Place* after = nullptr;
  Mode mode = Mode::Exclusive;
  bool further = false;  // it is a FurtherPlace

  Claim& claim();
  const Claim& claim() const { return const_cast<Place*>(this)->claim(); }
};
using PlaceList = Linked<Place, &Place::before, &Place::after>;

// A place of a multi-lock in a lock other than its first.
struct FurtherPlace : Place {
  Claim* of = nullptr;
};

// Exists while it has a hold, a waiter or a delay. Afterwards nothing remains.
struct Lock {
  explicit Lock(std::string_view of) : name(of) {}
  ShortText name;
  PlaceList holds;       // INV_L01: a single exclusive hold, or only shared ones; in grant order
  PlaceList queue;       // INV_L05: in the order of Claim::since
  uint64_t delay = 0;    // S-40: id of the lock-delay that runs; zero: none
  uint32_t waiting = 0;  // length of the queue
  bool touched = false;  // listed for decide_waits()
};

// Whether one more hold of this mode could coexist with the present ones.
inline bool admits(const Lock& lock, Mode mode) { return lock.holds.empty() || compatible(lock.holds.first->mode, mode); }

// The fields that few claims need.
struct Extension {
  Duration timeout{};  // of a timed wait, else zero; zero once held
  Duration delay{};    // S-40: the lock-delay after its session expires
  uint64_t releases = 0;
  HoldTextsOf<ShortText> texts;
  uint32_t count = 1;                      // 1 to kCountMax; above 1 only if held and reentrant
  uint32_t places = 0;                     // how many further places a multi-lock has
  std::unique_ptr<FurtherPlace[]> others;  // the further places
  std::unique_ptr<Block> block;            // of a sticky claim; null otherwise
};

// An origin of claims, and how many claims it has.
using OriginUses = std::pair<const Origin, uint64_t>;

// The places of a claim as a range, its own place first.
template <typename OfClaim>
class Places {
 public:
  class Iterator {
   public:
    using value_type = Place;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(OfClaim* claim, uint32_t at) : claim_(claim), at_(at) {}
    auto& operator*() const {
      std::conditional_t<std::is_const_v<OfClaim>, const Place, Place>* const own = claim_;
      return at_ == 0 ? *own : claim_->others()[at_ - 1];
    }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return {claim_, at_++}; }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    OfClaim* claim_ = nullptr;
    uint32_t at_ = 0;
  };
  explicit Places(OfClaim& claim) : claim_(&claim) {}
  Iterator begin() const { return {claim_, 0}; }
  Iterator end() const { return {claim_, claim_->extent()}; }

 private:
  OfClaim* claim_;
};

// A session and a tag. An owner has at most one claim of a kind on one lock.
struct Owner;
struct Claim : Place {
  bool reentrant : 1 = false;
  bool stored : 1 = false;  // its present row is in the checkpoint
  uint32_t dirty_slot = 0;  // position in the table's list of changed claims, plus one; zero: unchanged
  Owner* owner = nullptr;
  Claim* owner_before = nullptr;  // in Owner::holds or Owner::waits
  Claim* owner_after = nullptr;
  const OriginUses* origin = nullptr;  // with the sequence: the request of the acquire, its permanent name
  Sequence sequence;
  Index since;  // waiting: the entry that queued it, unique; held: the entry that granted it
  Token token;  // zero: waiting
  std::unique_ptr<Extension> extension;

  bool held() const { return static_cast<bool>(token); }
  RequestId request() const { return {origin->first, sequence}; }
  Duration timeout() const { return extension ? extension->timeout : Duration::zero(); }
  Duration delay() const { return extension ? extension->delay : Duration::zero(); }
  uint64_t releases() const { return extension ? extension->releases : 0; }
  HoldTextViews texts() const { return extension ? hold_texts<std::string_view>(extension->texts) : HoldTextViews(); }
  uint32_t count() const { return extension ? extension->count : 1; }
  Block* block() const { return extension ? extension->block.get() : nullptr; }
  // For changes to its unusual fields.
  Extension& make_extension() {
    if (!extension) extension = std::make_unique<Extension>();
    return *extension;
  }

  // Its places after this one.
  std::span<FurtherPlace> others() const {
    return extension ? std::span(extension->others.get(), extension->places) : std::span<FurtherPlace>();
  }
  uint32_t extent() const { return extension ? 1 + extension->places : 1; }
  Places<Claim> places() { return Places<Claim>(*this); }
  Places<const Claim> places() const { return Places<const Claim>(*this); }
};
using ClaimList = LinkedFront<Claim, &Claim::owner_before, &Claim::owner_after>;

inline Claim& Place::claim() { return further ? *static_cast<FurtherPlace*>(this)->of : static_cast<Claim&>(*this); }

// Exists while it has a claim.
struct Owner {
  SessionId session;
  ShortText tag;
  bool indexed = false;  // its claims are found by an index of the table
  uint32_t places = 0;   // of its claims
  ClaimList holds;       // in no meaningful order
  ClaimList waits;       // in no meaningful order
};

// S-48: no waiter is ahead of it in any of its queues, no hold is in the way, and no delay runs.
bool grantable(const Claim& waiter);

}  // namespace coordkit::lock
