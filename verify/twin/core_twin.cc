#include "twin/core_twin.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "raft/core_impl.h"
#include "twin/core_words.h"
#include "twin/opened.h"

namespace coordkit::raft {

template struct Opens<&ElectionTimer::campaign_, &ElectionTimer::random_>;
template struct Opens<&Roles::reported_>;
template struct Opens<&StreamNumbers::last_>;
template struct Opens<&Core::Impl::options_, &Core::Impl::now_, &Core::Impl::log_, &Core::Impl::reader_, &Core::Impl::outbox_,
                      &Core::Impl::roles_, &Core::Impl::election_timer_, &Core::Impl::campaigning_, &Core::Impl::leading_,
                      &Core::Impl::streams_, &Core::Impl::transfer_, &Core::Impl::change_>;
template struct Opens<&Core::impl_>;

namespace {

// The parts of a core by name, in the order above.
struct Parts {
  const std::shared_ptr<const Options>& options;
  const LaggingTime& now;
  Log& log;
  const LogReader& reader;
  const Outbox& outbox;
  const Roles& roles;
  ElectionTimer& election_timer;
  const std::optional<Campaigning>& campaigning;
  const std::optional<Leading>& leading;
  const StreamNumbers& streams;
  const PendingTransfer& transfer;
  const PendingChange& change;
};

using Impl = std::remove_reference_t<decltype(*std::get<0>(opened(std::declval<Core&>())))>;
std::unique_ptr<Impl>& pointer(Core& core) { return std::get<0>(opened(core)); }
Impl& inside(const Core& core) { return *std::get<0>(opened(core)); }
Parts parts(const Core& core) {
  return std::apply([](auto&... part) { return Parts{part...}; }, opened(inside(core)));
}

}  // namespace

// No constructor of Core takes insides. A core without any stays so when another is made of it by a move.
Core CoreTwin::copy(const Core& core) {
  thread_local Core empty = [] {
    Core made({}, {}, {});
    pointer(made).reset();
    return made;
  }();
  Core twin = std::move(empty);
  pointer(twin) = std::make_unique<Impl>(inside(core));
  return twin;
}

void CoreTwin::digest(const Core& core, Digest& into, const Ignored& ignored) {
  const Parts part = parts(core);
  const auto [reported_role] = opened(part.roles);
  COORDKIT_CHECK_MSG(part.outbox.empty() && part.outbox.commit_reported == part.log.commit() && !part.roles.requested() &&
                         reported_role == part.roles.now(),
                     "a core is compared after it was drained");
  Words words(into, ignored, *part.options, part.now);
  words.add(part.log);
  words.add(part.roles, inside(core).news());
  const auto [last_campaign, random] = opened(part.election_timer);
  into.add(last_campaign);
  if (!part.leading && !ignored.followers_clocks) words.ahead(part.election_timer.deadline());
  if (part.campaigning) words.add(*part.campaigning);
  if (part.leading) words.add(*part.leading);
  const auto [last_stream] = opened(part.streams);
  into.add(last_stream);
  words.add(part.transfer);
  words.add(part.change);
  words.add(part.reader);
}

void CoreTwin::reseed(Core& core, uint64_t seed) { std::get<1>(opened(parts(core).election_timer)) = Random(seed); }

std::span<const Entry> CoreTwin::log(const Core& core) {
  const LogCache& log = inside(core).log().cache();
  return log.cached(log.first_cached(), log.last().index, ~size_t{0});
}

LaggingTime CoreTwin::now(const Core& core) { return parts(core).now; }

LaggingTime CoreTwin::deadline_without_repeats(const Core& core) {
  const Parts part = parts(core);
  const LaggingTime next = core.next_deadline();
  if (next != inside(core).next_question()) return next;
  return std::max(next, std::min(part.election_timer.deadline(), part.transfer.deadline()));
}

bool CoreTwin::hears_leader(const Core& core) { return inside(core).voting().hears_leader(); }

bool CoreTwin::overtaken(const Core& core, ReplicaId from, const AppendReply& reply) {
  const Leading* leading = inside(core).leading();
  if (!leading || !leading->current_stream(from, reply.term, reply.stream)) return false;
  const Progress& peer = *leading->peers().find(from);
  if (reply.round > peer.answered_round) return false;
  return reply.verdict == AppendVerdict::Accepted ? reply.match < peer.match : reply.rejected <= peer.match;
}

bool CoreTwin::vote_durable(const Core& core) { return inside(core).log().disk().hard_state_durable(); }

bool CoreTwin::admissible(const Core& core, ReplicaId from, const Message& message) {
  return inside(core).admission().admits(from, message);
}

void CoreTwin::commit_by_counting(Core& core) {
  const Leading* leading = inside(core).leading();
  if (!leading) return;
  Log& log = parts(core).log;
  const auto match_of = [&](ReplicaId id) {
    return (id == leading->self() ? log.durable() : leading->peers().match(id)).value();
  };
  log.raise_commit(Index(quorum_value(log.configuration(), match_of)));
}

}  // namespace coordkit::raft
