#include "bench/etcd/etcd_load.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "bench/cluster/kv_load.h"
#include "bench/cluster/load_loop.h"
#include "bench/etcd/etcd_calls.h"
#include "bench/etcd/etcd_cluster.h"
#include "bench/etcd/etcd_renewals.h"

namespace coordkit::bench {
namespace {

using etcd::check;
namespace pb = etcd::pb;

// One caller: it is the tag of its own operation in the queue.
class Caller {
 public:
  // `lease`: of the kind lock.
  Caller(pb::KV::Stub& stub, grpc::CompletionQueue& queue, LoadLoop& loop, std::string kind, size_t number, int64_t lease)
      : stub_(stub),
        queue_(queue),
        loop_(loop),
        kind_(std::move(kind)),
        random_(number),
        lock_("lock-" + std::to_string(number)),
        lease_(lease) {}

  void next() {
    loop_.next([this](TimePoint from) {
      started_ = from;
      kind_ == "lock" ? acquire() : operate(draw_key(random_));
    });
  }
  void answered() {
    if (!status_.ok()) loop_.error(absl::UnavailableError(status_.error_message()));
    if (status_.ok() && holds_ == Holds::NotYet) return release();
    if (status_.ok()) loop_.cycle(started_, Clock::now());
    next();
  }

 private:
  template <typename Response>
  struct Operation {
    std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader;
    Response response;
  };

  void operate(const std::string& key) {
    if (kind_ == "put") {
      send(put_, etcd::put_of(key), [this](auto... all) { return stub_.AsyncPut(all...); });
    } else if (kind_ == "txn") {
      send(txn_, etcd::put_if_there(key), [this](auto... all) { return stub_.AsyncTxn(all...); });
    } else {
      send(range_, etcd::range_of(key, kind_ == "local"), [this](auto... all) { return stub_.AsyncRange(all...); });
    }
  }
  void acquire() {
    holds_ = Holds::NotYet;
    send(txn_, etcd::acquire_of(lock_, lease_), [this](auto... all) { return stub_.AsyncTxn(all...); });
  }
  void release() {
    if (!txn_.response.succeeded()) loop_.error(absl::InternalError("a caller's own lock is held"));
    holds_ = Holds::Yes;
    send(delete_, etcd::release_of(lock_, lease_), [this](auto... all) { return stub_.AsyncDeleteRange(all...); });
  }

  template <typename Response, typename Request, typename Call>
  void send(Operation<Response>& operation, const Request& request, Call call) {
    context_ = std::make_unique<grpc::ClientContext>();
    context_->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    operation.reader = call(context_.get(), request, &queue_);
    operation.reader->Finish(&operation.response, &status_, this);
  }

  enum class Holds : uint8_t { NeverDoes, NotYet, Yes };

  pb::KV::Stub& stub_;
  grpc::CompletionQueue& queue_;
  LoadLoop& loop_;
  const std::string kind_;
  Random random_;
  const std::string lock_;
  const int64_t lease_;
  Holds holds_ = Holds::NeverDoes;
  TimePoint started_;
  std::unique_ptr<grpc::ClientContext> context_;
  grpc::Status status_;
  Operation<pb::PutResponse> put_;
  Operation<pb::TxnResponse> txn_;
  Operation<pb::RangeResponse> range_;
  Operation<pb::DeleteRangeResponse> delete_;
};

void fill(pb::KV::Stub& stub) {
  for (uint64_t from = 0; from < kKeys; from += 100) {
    pb::TxnRequest txn;
    for (uint64_t number = from; number < from + 100; ++number) {
      *txn.add_success()->mutable_request_put() = etcd::put_of(key_of(number));
    }
    grpc::ClientContext context;
    pb::TxnResponse response;
    check(stub.Txn(&context, txn, &response));
  }
}

using Channels = std::vector<std::shared_ptr<grpc::Channel>>;

nlohmann::ordered_json run_callers(const Channels& channels, const LoadOptions& load) {
  std::vector<std::unique_ptr<pb::KV::Stub>> stubs;
  for (const auto& channel : channels) stubs.push_back(pb::KV::NewStub(channel));
  std::vector<int64_t> leases(load.callers);
  if (load.kind == "lock") std::ranges::generate(leases, [&] { return etcd::grant_lease(channels[0]); });
  if (load.kind != "lock") fill(*stubs[0]);
  grpc::CompletionQueue queue;
  LoadLoop loop(load.callers, Seconds(load.warmup_s), Seconds(load.seconds), load.per_s);
  std::vector<std::unique_ptr<Caller>> callers;
  for (size_t number = 0; number < load.callers; ++number) {
    pb::KV::Stub& stub = *stubs[number % stubs.size()];
    callers.push_back(std::make_unique<Caller>(stub, queue, loop, load.kind, number, leases[number]));
  }
  std::thread answers([&queue] {
    void* tag = nullptr;
    for (bool ok = false; queue.Next(&tag, &ok);) static_cast<Caller*>(tag)->answered();
  });
  for (const auto& caller : callers) caller->next();
  nlohmann::ordered_json result = loop.wait();
  queue.Shutdown();
  answers.join();
  return result;
}

}  // namespace

nlohmann::ordered_json run_etcd(const std::string& program, const std::filesystem::path& data, const LoadOptions& load) {
  const EtcdCluster cluster(program, data);
  const std::string leader = cluster.leader();
  const Channels channels = etcd::connections(leader, load.callers);
  nlohmann::ordered_json result = load.kind == "renewals" ? etcd::run_renewals(channels, load) : run_callers(channels, load);
  if (cluster.leader() != leader) {
    result["errors"] = result["errors"].get<uint64_t>() + 1;
    if (!result.contains("first_error")) result["first_error"] = "leadership changed during the measurement";
  }
  return result;
}

}  // namespace coordkit::bench
