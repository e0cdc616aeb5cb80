// Feeds observers with a first snapshot and then every change (observers.h), in the caller's types.
#include <utility>

#include "client/impl.h"
#include "client/objects/typed_answers.h"

namespace coordkit {
namespace {

using client::Observers;
using client::SnapshotAnswer;
using coordination::Change;
using coordination::Kind;

using Task = absl::AnyInvocable<void()>;

// Passes an observation to the caller's own code; all tasks of one observer share it.
template <typename T>
class Responder {
 public:
  explicit Responder(Observer<T> observer) : observer_(std::make_shared<Observer<T>>(std::move(observer))) {}
  Task operator()(T seen) const {
    return [observer = observer_, seen = std::move(seen)] { (*observer)(seen); };
  }

 private:
  std::shared_ptr<Observer<T>> observer_;
};

Observers::Target target_of(Kind kind, const std::string& name, const ObserveOptions& options,
                            client::SnapshotQuestion question) {
  return {.kind = kind,
          .name = name,
          .waiting_max = std::max<size_t>(options.waiting_max, 1),
          .question = std::move(question),
          .snapshot = {},
          .change = {}};
}

}  // namespace

ObserverId CoordinationCalls::observe_leader(std::string name, Observer<LeaderSeen> observer, ObserveOptions options) {
  Observers::Target target = target_of(Kind::Lock, name, options, machine::HoldersOf{name});
  const Responder<LeaderSeen> tell(std::move(observer));
  target.snapshot = [tell](const SnapshotAnswer& state, Seen how, Index index) {
    return tell({how, index, client::leader_of(std::get<machine::Holders>(state))});
  };
  target.change = [tell](const Change& change, Index index) {
    LeaderSeen seen{Seen::Change, index, std::nullopt};
    if (change.what == Change::What::Set) {
      seen.leader =
          LeaderInfo{change.session, change.owner, Token(static_cast<uint64_t>(change.number)), change.member, change.value};
    }
    return tell(std::move(seen));
  };
  return client_->impl_->observations.observe(std::move(target));
}

ObserverId CoordinationCalls::observe_counter(std::string name, Observer<CounterSeen> observer, ObserveOptions options) {
  Observers::Target target = target_of(Kind::Counter, name, options, machine::ObjectOf{Kind::Counter, name, 0});
  const Responder<CounterSeen> tell(std::move(observer));
  target.snapshot = [tell](const SnapshotAnswer& state, Seen how, Index index) {
    return tell({how, index, std::get<machine::ObjectView>(state).number});
  };
  target.change = [tell](const Change& change, Index index) { return tell({Seen::Change, index, change.number}); };
  return client_->impl_->observations.observe(std::move(target));
}

ObserverId CoordinationCalls::observe_latch(std::string name, Observer<LatchSeen> observer, ObserveOptions options) {
  Observers::Target target = target_of(Kind::Latch, name, options, machine::ObjectOf{Kind::Latch, name, 0});
  const Responder<LatchSeen> tell(std::move(observer));
  const auto seen = [](Seen how, Index index, bool exists, int64_t count) {
    return LatchSeen{how, index, exists ? std::optional(static_cast<uint64_t>(count)) : std::nullopt};
  };
  target.snapshot = [tell, seen](const SnapshotAnswer& state, Seen how, Index index) {
    const auto& now = std::get<machine::ObjectView>(state);
    return tell(seen(how, index, now.exists, now.number));
  };
  target.change = [tell, seen](const Change& change, Index index) {
    return tell(seen(Seen::Change, index, change.what == Change::What::Set, change.number));
  };
  return client_->impl_->observations.observe(std::move(target));
}

ObserverId CoordinationCalls::observe_group(std::string name, Observer<GroupSeen> observer, ObserveOptions options) {
  Observers::Target target = target_of(Kind::Group, name, options, machine::MembersOf{name});
  const Responder<GroupSeen> tell(std::move(observer));
  target.snapshot = [tell](const SnapshotAnswer& state, Seen how, Index index) {
    GroupSeen seen{.how = how, .index = index};
    for (const auto& row : std::get<std::vector<machine::ObjectRow>>(state)) seen.members.push_back(client::member_of(row));
    return tell(std::move(seen));
  };
  target.change = [tell](const Change& change, Index index) {
    return tell({.how = Seen::Change,
                 .index = index,
                 .members = {{change.member, change.session, change.owner, change.value}},
                 .what = GroupSeen::What(static_cast<uint8_t>(change.what))});
  };
  return client_->impl_->observations.observe(std::move(target));
}

void CoordinationCalls::end_observation(ObserverId observer) { client_->impl_->observations.observers().remove(observer); }

}  // namespace coordkit
