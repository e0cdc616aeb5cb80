#include "bench/etcd/etcd_renewals.h"

#include <deque>
#include <thread>

#include "bench/cluster/load_loop.h"
#include "bench/etcd/etcd_calls.h"

namespace coordkit::bench::etcd {
namespace {

using KeepAlive = grpc::ClientReaderWriter<pb::LeaseKeepAliveRequest, pb::LeaseKeepAliveResponse>;

struct Asked {
  int64_t lease = 0;
  TimePoint at;
};

// Answers come in the order of the requests. Who was answered asks again.
void keep_alive(const std::shared_ptr<grpc::Channel>& channel, const std::vector<int64_t>& leases, LoadLoop& loop) {
  const auto stub = pb::Lease::NewStub(channel);
  grpc::ClientContext context;
  const std::unique_ptr<KeepAlive> stream = stub->LeaseKeepAlive(&context);
  std::deque<Asked> asked;
  const auto ask = [&](int64_t lease) {
    pb::LeaseKeepAliveRequest request;
    request.set_id(lease);
    if (!stream->Write(request)) return loop.error(absl::UnavailableError("etcd ended a stream"));
    asked.push_back({lease, Clock::now()});
  };
  for (const int64_t lease : leases) ask(lease);
  pb::LeaseKeepAliveResponse response;
  while (!asked.empty() && stream->Read(&response)) {
    const Asked answered = asked.front();
    asked.pop_front();
    response.ttl() > 0 ? loop.cycle(answered.at, Clock::now()) : loop.error(absl::NotFoundError("a lease has ended"));
    if (!loop.over()) ask(answered.lease);
  }
  if (!asked.empty()) loop.error(absl::UnavailableError("etcd ended a stream"));
  context.TryCancel();
  for (size_t caller = 0; caller < leases.size(); ++caller) loop.caller_ended();
}

}  // namespace

nlohmann::ordered_json run_renewals(const std::vector<std::shared_ptr<grpc::Channel>>& channels, const LoadOptions& load) {
  std::vector<std::vector<int64_t>> leases(channels.size());
  for (size_t caller = 0; caller < load.callers; ++caller) {
    leases[caller % channels.size()].push_back(grant_lease(channels[caller % channels.size()]));
  }
  LoadLoop loop(load.callers, Seconds(load.warmup_s), Seconds(load.seconds));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < channels.size(); ++i) {
    threads.emplace_back([&, i] { keep_alive(channels[i], leases[i], loop); });
  }
  for (std::thread& thread : threads) thread.join();
  return loop.wait();
}

}  // namespace coordkit::bench::etcd
