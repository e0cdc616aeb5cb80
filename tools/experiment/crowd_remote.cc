#include "tools/experiment/crowd_remote.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "coordkit/error.h"
#include "coordkit/name_of.h"
#include "tools/support/child.h"

namespace coordkit::experiment {
namespace {

uint64_t number_in(const std::string& value) { return std::stoull("0" + value); }

}  // namespace

std::string crowd_key(uint64_t remote) { return "n/" + std::to_string(remote); }

void CrowdFan::seen(uint64_t number, int64_t at_ns) {
  const std::lock_guard lock(mutex_);
  if (number > newest_.number) newest_ = {.number = number};
  if (number < newest_.number) return;
  ++newest_.watches;
  newest_.last_ns = std::max(newest_.last_ns, at_ns);
}

CrowdFan::Count CrowdFan::newest() const {
  const std::lock_guard lock(mutex_);
  return newest_;
}

absl::Status CrowdRemote::open(const std::vector<std::string>& gateways, std::shared_ptr<Executor> executor) {
  RemoteOptions options{.cluster = "crowd", .gateways = gateways, .security = PlainText{}, .executor = std::move(executor)};
  options.on_link = [this, gateways](const LinkState& state) {
    const auto at = std::ranges::find(gateways, state.gateway) - gateways.begin();
    trace_("link", number_, support::machine_time_ns(), name_of(state.kind), at + 1);
  };
  auto opened = Remote::open(std::move(options));
  if (opened.ok()) remote_ = *std::move(opened);
  return opened.status();
}

void CrowdRemote::open_session() {
  SessionOptions options{.ttl = kTtl, .timeout = kCallMax};
  options.on_phase = [this](SessionPhase phase) { trace_("session", number_, support::machine_time_ns(), name_of(phase)); };
  remote_->open_session_async(std::move(options), [this](absl::StatusOr<Session> opened) {
    if (!opened.ok()) return open_session();
    const std::lock_guard lock(mutex_);
    sessions_.push_back(*std::move(opened));
  });
}

size_t CrowdRemote::sessions() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

size_t CrowdRemote::valid_sessions() const {
  const std::lock_guard lock(mutex_);
  return static_cast<size_t>(std::ranges::count_if(sessions_, &Session::valid));
}

void CrowdRemote::take_lock() {
  const std::lock_guard lock(mutex_);
  const std::string name = "lock/" + std::to_string(number_);
  sessions_.front().acquire_async(name, {.timeout = kCallMax, .owner = "crowd"}, [this](absl::StatusOr<Grant> grant) {
    if (!grant.ok()) return take_lock();
    const std::lock_guard held(mutex_);
    grant_ = *std::move(grant);
    lost_ = std::make_unique<std::stop_callback<std::function<void()>>>(
        grant_.lost(), [this] { trace_("hold", number_, support::machine_time_ns()); });
  });
}

bool CrowdRemote::holds() const {
  const std::lock_guard lock(mutex_);
  return grant_.valid();
}

void CrowdRemote::watch_key_of(uint64_t remote) {
  WatchOptions from_the_start = WatchOptions::of(crowd_key(remote));
  from_the_start.from = Revision(1);
  watches_.emplace_back(*remote_, std::move(from_the_start), [this, remote](const WatchBatch& batch) {
    const int64_t now = support::machine_time_ns();
    for (const WatchEvent& event : batch.events) {
      trace_("seen", remote, event.entry.version, number_in(event.entry.value), now);
      seen_ = event.entry.version;
    }
    if (batch.what == WatchBatch::What::Ended) trace_("ended", remote, batch.why.ToString());
  });
}

void CrowdRemote::watch_fan(uint64_t watches) {
  for (uint64_t i = 0; i < watches; ++i) {
    watches_.emplace_back(*remote_, WatchOptions::of(kCrowdFanKey), [this](const WatchBatch& batch) {
      const int64_t now = support::machine_time_ns();
      if (batch.what == WatchBatch::What::Created) fan_.created();
      for (const WatchEvent& event : batch.events) fan_.seen(number_in(event.entry.value), now);
      if (batch.what == WatchBatch::What::Ended) trace_("ended", number_, batch.why.ToString());
    });
  }
}

void CrowdRemote::put() {
  if (calling_.exchange(true)) return;
  const uint64_t number = ++puts_;
  const int64_t called = support::machine_time_ns();
  remote_->put_async(crowd_key(number_), std::to_string(number), {.timeout = kCallMax},
                     [this, number, called](const absl::StatusOr<PutResult>& result) {
                       const bool unknown = outcome_of(result.status()) == Outcome::Unknown;
                       trace_("put", number_, number,
                              result.ok() ? "done"
                              : unknown   ? "unknown"
                                          : "refused",
                              called, support::machine_time_ns());
                       calling_ = false;
                     });
}

}  // namespace coordkit::experiment
