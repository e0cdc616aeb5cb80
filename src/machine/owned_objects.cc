#include "machine/owned_objects.h"

#include <utility>

#include "machine/machine.h"
#include "machine/record_codec.h"

namespace coordkit::machine {
namespace {

using coordination::Coordination;
using coordination::Kind;

// One page of an answer.
class Page {
 public:
  explicit Page(const OwnedObjectsQuery& query) : query_(query) {}

  // `describe(key, row)`: the object of one row of this kind.
  template <typename Row, typename Describe>
  void add(Kind kind, const coordination::Rows<Row>& rows, Describe describe) {
    for (const auto key : rows.of_session(query_.session)) {
      if (std::pair(kind, key.value()) <= std::pair(query_.after_kind, query_.after)) continue;
      if (reply_.more) return;
      OwnedObject object = describe(key, rows.at(key));
      object.kind = kind;
      take(std::move(object));
    }
  }
  OwnedObjectsReply done() && { return std::move(reply_); }

 private:
  static constexpr size_t kBytesMax = 4 << 20;

  // The first one always fits.
  void take(OwnedObject object) {
    const size_t size = object.name.size() + object.owner.size() + object.value.size() + 1;
    if (reply_.rows.size() == kQueryRowsMax || (bytes_ != 0 && bytes_ + size > kBytesMax)) {
      reply_.more = true;
      return;
    }
    bytes_ += size;
    reply_.rows.push_back(std::move(object));
  }

  const OwnedObjectsQuery& query_;
  OwnedObjectsReply reply_;
  size_t bytes_ = 0;
};

OwnedObjectsReply look(const Coordination& state, const OwnedObjectsQuery& query) {
  Page page(query);
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

}  // namespace

std::string Machine::answer_to(const OwnedObjectsQuery& query) const { return encode(look(state_.coordination, query)); }

std::string encode(const OwnedObjectsReply& reply) { return fields::encode_record(reply); }

absl::StatusOr<OwnedObjectsReply> decode_owned_objects(std::string_view bytes) {
  return fields::decode_record<OwnedObjectsReply>(bytes, "reply");
}

}  // namespace coordkit::machine
