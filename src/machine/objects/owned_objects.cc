// The objects that a session has besides locks.
#include <utility>

#include "machine/machine_reads.h"

namespace coordkit::machine {
namespace {

using coordination::Coordination;
using coordination::Kind;

// One page of an answer.
class Page {
 public:
  Page(SessionId session, const OwnedObjects::Place& after) : session_(session), after_(after) {}

  // `describe(key, row)`: the object of one row of this kind.
  template <typename Row, typename Describe>
  void add(Kind kind, const coordination::Rows<Row>& rows, Describe describe) {
    for (const auto key : rows.of_session(session_)) {
      if (std::pair(kind, key.value()) <= std::pair(after_.kind, after_.number)) continue;
      if (reply_.more) return;
      OwnedObject object = describe(key, rows.at(key));
      object.kind = kind;
      take(std::move(object));
    }
  }
  OwnedObjects done() && { return std::move(reply_); }

 private:
  static constexpr size_t kBytesMax = 4 << 20;

  // Takes one more object. The first one always fits.
  void take(OwnedObject object) {
    const size_t size = object.name.size() + object.owner.size() + object.value.size() + 1;
    if (reply_.rows.size() == kRowsMax || (bytes_ != 0 && bytes_ + size > kBytesMax)) {
      reply_.more = true;
      return;
    }
    bytes_ += size;
    reply_.rows.push_back(std::move(object));
  }

  SessionId session_;
  OwnedObjects::Place after_;
  OwnedObjects reply_;
  size_t bytes_ = 0;
};

}  // namespace

OwnedObjects MachineReads::objects_of(SessionId session, const OwnedObjects::Place& after) const {
  const Coordination& state = state_.coordination;
  Page page(session, after);
  page.add(Kind::Semaphore, state.semaphores.permits(), [&](Token token, const coordination::Permits& permits) {
    return OwnedObject{.name = state.semaphores.semaphores().at(permits.object).name,
                       .token = token,
                       .since = permits.since,
                       .count = permits.count};
  });
  page.add(Kind::DoubleBarrier, state.double_barriers.places(), [&](Token token, const coordination::Place& place) {
    return OwnedObject{.name = state.double_barriers.barriers().at(place.object).name, .token = token, .since = place.since};
  });
  page.add(Kind::Queue, state.queues.claims(), [&](Token token, const coordination::Claim& claim) {
    const coordination::Item& item = state.queues.items().at(claim.object);
    return OwnedObject{.name = state.queues.queues().at(item.object).name,
                       .token = token,
                       .since = claim.since,
                       .id = claim.object,
                       .count = item.deliveries,
                       .value = item.value};
  });
  page.add(Kind::Group, state.groups.members(), [&](Index number, const coordination::Member& member) {
    return OwnedObject{
        .name = state.groups.groups().at(member.object).name, .id = number, .owner = member.owner, .value = member.value};
  });
  return std::move(page).done();
}

}  // namespace coordkit::machine
