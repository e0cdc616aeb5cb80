#include "lock/compact_holds.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "lock/claim_hash.h"

namespace coordkit::lock {
namespace {

constexpr size_t kCapacityKept = 4096;   // of the index by name once it is empty
constexpr size_t kOriginsMax = 1 << 11;  // the number of values of Record::origin
constexpr size_t kTagBytesMax = 255;     // of a claim at rest
constexpr size_t kFreshMax = 4096;

ShortText text_of(const ClaimView& hold) {
  if (hold.tag.empty()) return ShortText(hold.name);
  const char length = static_cast<char>(hold.tag.size());
  return ShortText({hold.name, hold.tag, std::string_view(&length, 1)});
}

bool plain(const ClaimView& hold) {
  return hold.held() && hold.tag.size() <= kTagBytesMax && bytes_of(hold.texts) == 0 && hold.others.empty() &&
         hold.delay == Duration::zero() && !hold.reentrant && !hold.sticky() &&
         hold.request.sequence.value() <= std::numeric_limits<uint32_t>::max();
}

}  // namespace

CompactHolds::CompactHolds()
    : records_(std::make_unique<HandlePool<Record>>()),
      names_(0, ByName{{records_.get()}}, ByName{{records_.get()}}),
      sessions_(ByGrant{{records_.get()}}) {}

bool CompactHolds::add(const ClaimView& hold, bool stored, bool dirty) {
  if (!plain(hold)) return false;
  const std::optional<uint16_t> origin = place_of(hold.request.origin);
  if (!origin) return false;
  Handle handle = 0;
  names_.lazy_emplace(hold.name, [&](const auto& emplace) { emplace(handle = records_->add()); });
  if (handle == 0) {
    leave(*origin);
    return false;
  }
  Record& record = (*records_)[handle];
  record.session = hold.session;
  record.since = hold.since;
  record.token = hold.token;
  record.sequence = static_cast<uint32_t>(hold.request.sequence.value());
  record.text = text_of(hold);
  record.tagged = hold.tag.empty() ? 0 : 1;
  record.origin = *origin & (kOriginsMax - 1);
  record.shared = hold.mode == Mode::Shared ? 1 : 0;
  record.stored = stored ? 1 : 0;
  record.dirty = dirty ? 1 : 0;
  if (dirty) dirty_.push_back(handle);
  join_later(handle);
  return true;
}

CompactHolds::Found CompactHolds::find(std::string_view name) const {
  Found found;
  found.at_ = names_.find(name);
  if (found.at_ != names_.end()) found.handle_ = *found.at_;
  return found;
}

CompactHolds::Found CompactHolds::find(Handle handle) const { return find((*records_)[handle].name()); }

ClaimView CompactHolds::view(Handle handle) const {
  const Record& record = (*records_)[handle];
  ClaimView view;
  view.name = record.name();
  view.tag = record.tag();
  view.mode = record.mode();
  view.session = record.session;
  view.request = {origins_[record.origin].origin, Sequence(record.sequence)};
  view.since = record.since;
  view.token = record.token;
  return view;
}

void CompactHolds::remove(Found lock) {
  const Handle handle = lock;
  leave_joined(handle);
  names_.erase(lock.at_);
  leave((*records_)[handle].origin);
  records_->remove(handle);
  // Locks that came and went must leave no memory behind, even if no checkpoint is ever taken (REG_F76).
  if (names_.empty()) {
    dirty_.clear();
    fresh_.clear();
    if (names_.capacity() > kCapacityKept) *this = CompactHolds();
  } else if (dirty_.size() > 2 * names_.size() + 64) {
    std::erase_if(dirty_, [this](Handle each) { return !(*records_)[each].dirty; });
    std::ranges::sort(dirty_);
    dirty_.erase(std::unique(dirty_.begin(), dirty_.end()), dirty_.end());
  }
}

void CompactHolds::regrant(Handle handle, Token token, Index since) {
  leave_joined(handle);
  Record& record = (*records_)[handle];
  record.token = token;
  record.since = since;
  record.stored = 0;
  if (!record.dirty) dirty_.push_back(handle);
  record.dirty = 1;
  join_later(handle);
}

void CompactHolds::join_later(Handle handle) {
  if (fresh_.size() == kFreshMax) join();
  (*records_)[handle].fresh = 1;
  fresh_.push_back(handle);
}

void CompactHolds::join() const {
  for (const Handle handle : fresh_) {
    Record& record = (*records_)[handle];
    if (!record.fresh) continue;
    record.fresh = 0;
    digest_ += claim_hash(view(handle));
    sessions_.insert(handle);
  }
  fresh_.clear();
}

void CompactHolds::leave_joined(Handle handle) {
  Record& record = (*records_)[handle];
  if (!record.fresh) {
    digest_ -= claim_hash(view(handle));
    sessions_.erase(handle);
  }
  record.fresh = 0;
}

uint64_t CompactHolds::digest() const {
  join();
  return digest_;
}

std::vector<CompactHolds::Handle> CompactHolds::of_session(SessionId session) const {
  std::vector<Handle> handles;
  of_session(session, Token(), [&handles](Handle handle) {
    handles.push_back(handle);
    return true;
  });
  return handles;
}

void CompactHolds::of_session(SessionId session, Token after, absl::FunctionRef<bool(Handle)> visit) const {
  join();
  for (auto at = sessions_.upper_bound(GrantKey(session, after)); at != sessions_.end(); ++at) {
    if ((*records_)[*at].session != session || !visit(*at)) return;
  }
}

uint32_t CompactHolds::count(SessionId session) const { return static_cast<uint32_t>(of_session(session).size()); }

void CompactHolds::each(absl::FunctionRef<void(Handle)> visit) const {
  for (const Handle handle : names_) visit(handle);
}

std::vector<CompactHolds::Handle> CompactHolds::take_dirty() {
  std::vector<Handle> taken;
  for (const Handle handle : std::exchange(dirty_, {})) {
    Record& record = (*records_)[handle];
    if (!record.dirty) continue;
    record.dirty = 0;
    record.stored = 1;
    taken.push_back(handle);
  }
  std::ranges::sort(taken, {}, [this](Handle handle) { return (*records_)[handle].token; });
  return taken;
}

void CompactHolds::forget_stored() {
  dirty_.clear();
  for (const Handle handle : names_) {
    Record& record = (*records_)[handle];
    record.stored = 0;
    record.dirty = 1;
    dirty_.push_back(handle);
  }
}

std::optional<uint16_t> CompactHolds::place_of(const Origin& origin) {
  if (latest_ < origins_.size() && origins_[latest_].uses > 0 && origins_[latest_].origin == origin) {
    ++origins_[latest_].uses;
    return latest_;
  }
  const auto [found, fresh] = places_.try_emplace(origin, uint16_t{0});
  if (fresh) {
    const auto empty = std::ranges::find(origins_, uint64_t{0}, &OriginPlace::uses);
    if (empty == origins_.end() && origins_.size() == kOriginsMax) {
      places_.erase(found);
      return std::nullopt;
    }
    found->second = static_cast<uint16_t>(empty - origins_.begin());
    if (empty == origins_.end()) {
      origins_.push_back({origin, 0});
    } else {
      *empty = {origin, 0};
    }
  }
  latest_ = found->second;
  ++origins_[latest_].uses;
  return latest_;
}

void CompactHolds::leave(uint16_t place) {
  OriginPlace& of = origins_[place];
  if (--of.uses == 0) places_.erase(of.origin);
}

}  // namespace coordkit::lock
