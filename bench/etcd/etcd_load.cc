#include "bench/etcd/etcd_load.h"

#include <grpcpp/grpcpp.h>

#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "bench/cluster/closed_loop.h"
#include "bench/cluster/kv_load.h"
#include "bench/etcd/etcd_cluster.h"
#include "kv.grpc.pb.h"

namespace coordkit::bench {
namespace {

namespace pb = etcdserverpb;

constexpr size_t kConnections = 4;

pb::PutRequest put_of(const std::string& key) {
  pb::PutRequest put;
  put.set_key(key);
  put.set_value(std::string(kSixteenBytes));
  return put;
}

pb::RangeRequest range_of(const std::string& key, bool local) {
  pb::RangeRequest range;
  range.set_key(key);
  range.set_serializable(local);
  return range;
}

pb::TxnRequest put_if_there(const std::string& key) {
  pb::TxnRequest txn;
  pb::Compare& compare = *txn.add_compare();
  compare.set_key(key);
  compare.set_target(pb::Compare::VERSION);
  compare.set_result(pb::Compare::GREATER);
  *txn.add_success()->mutable_request_put() = put_of(key);
  *txn.add_failure()->mutable_request_range() = range_of(key, false);
  return txn;
}

// One connection each: channels to the same address with the same arguments would share one.
std::unique_ptr<pb::KV::Stub> connection(const std::string& address, size_t number) {
  grpc::ChannelArguments arguments;
  arguments.SetInt("coordkit.connection", static_cast<int>(number));
  return pb::KV::NewStub(grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
}

// One caller: it is the tag of its own operation in the queue.
class Caller {
 public:
  Caller(pb::KV::Stub& stub, grpc::CompletionQueue& queue, ClosedLoop& loop, std::string kind, size_t number)
      : stub_(stub), queue_(queue), loop_(loop), kind_(std::move(kind)), random_(number) {}

  // False: it has stopped.
  bool next() {
    if (loop_.over()) {
      loop_.caller_ended();
      return false;
    }
    context_ = std::make_unique<grpc::ClientContext>();
    context_->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
    const std::string key = key_of(random_.below(kKeys));
    started_ = Clock::now();
    if (kind_ == "put") {
      send(put_, put_of(key), [this](auto... all) { return stub_.AsyncPut(all...); });
    } else if (kind_ == "txn") {
      send(txn_, put_if_there(key), [this](auto... all) { return stub_.AsyncTxn(all...); });
    } else {
      send(range_, range_of(key, kind_ == "local"), [this](auto... all) { return stub_.AsyncRange(all...); });
    }
    return true;
  }
  bool answered() {
    status_.ok() ? loop_.cycle(started_, Clock::now()) : loop_.error(absl::UnavailableError(status_.error_message()));
    return next();
  }

 private:
  template <typename Response>
  struct Operation {
    std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> reader;
    Response response;
  };

  template <typename Response, typename Request, typename Call>
  void send(Operation<Response>& operation, const Request& request, Call call) {
    operation.reader = call(context_.get(), request, &queue_);
    operation.reader->Finish(&operation.response, &status_, this);
  }

  pb::KV::Stub& stub_;
  grpc::CompletionQueue& queue_;
  ClosedLoop& loop_;
  const std::string kind_;
  Random random_;
  TimePoint started_;
  std::unique_ptr<grpc::ClientContext> context_;
  grpc::Status status_;
  Operation<pb::PutResponse> put_;
  Operation<pb::TxnResponse> txn_;
  Operation<pb::RangeResponse> range_;
};

void fill(pb::KV::Stub& stub) {
  for (uint64_t from = 0; from < kKeys; from += 100) {
    pb::TxnRequest txn;
    for (uint64_t number = from; number < from + 100; ++number) {
      *txn.add_success()->mutable_request_put() = put_of(key_of(number));
    }
    grpc::ClientContext context;
    pb::TxnResponse response;
    const grpc::Status status = stub.Txn(&context, txn, &response);
    if (!status.ok()) throw std::runtime_error("etcd: " + status.error_message());
  }
}

nlohmann::ordered_json run_callers(std::vector<std::unique_ptr<pb::KV::Stub>>& stubs, const LoadOptions& load) {
  grpc::CompletionQueue queue;
  ClosedLoop loop(load.callers, Seconds(load.warmup_s), Seconds(load.seconds));
  std::vector<std::unique_ptr<Caller>> callers;
  for (size_t number = 0; number < load.callers; ++number) {
    callers.push_back(std::make_unique<Caller>(*stubs[number % stubs.size()], queue, loop, load.kind, number));
  }
  size_t running = 0;
  for (const auto& caller : callers) running += caller->next() ? 1 : 0;
  void* tag = nullptr;
  for (bool ok = false; running != 0 && queue.Next(&tag, &ok);) {
    if (!static_cast<Caller*>(tag)->answered()) --running;
  }
  queue.Shutdown();
  return loop.wait();
}

}  // namespace

nlohmann::ordered_json run_etcd(const std::string& program, const std::filesystem::path& data, const LoadOptions& load) {
  std::filesystem::create_directories(data);
  nlohmann::ordered_json result;
  {
    const EtcdCluster cluster(program, data);
    const std::string leader = cluster.leader();
    std::vector<std::unique_ptr<pb::KV::Stub>> stubs;
    for (size_t number = 0; number < std::min(kConnections, load.callers); ++number) {
      stubs.push_back(connection(leader, number));
    }
    fill(*stubs[0]);
    result = run_callers(stubs, load);
    if (cluster.leader() != leader) {
      result["errors"] = result["errors"].get<uint64_t>() + 1;
      if (!result.contains("first_error")) result["first_error"] = "leadership changed during the measurement";
    }
  }
  std::filesystem::remove_all(data);
  return result;
}

}  // namespace coordkit::bench
