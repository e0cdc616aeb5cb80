#include "coordkit/replica.h"

#include <utility>

#include "replica/opening.h"
#include "replica/session_handle.h"
#include "replica/waiting.h"

namespace coordkit {

absl::StatusOr<std::unique_ptr<Replica>> Replica::open(ReplicaOptions options) {
  auto host = open_host(std::move(options), system_clock());
  if (!host.ok()) return host.status();
  return std::unique_ptr<Replica>(new Replica(*std::move(host)));
}

Replica::Replica(std::shared_ptr<Host> host) : host_(std::move(host)) {}

Replica::~Replica() { close().IgnoreError(); }

absl::Status Replica::close() { return host_->close(); }

absl::StatusOr<Session> Replica::open_session(SessionOptions options) {
  const LaggingTime deadline = host_->deadline(options.timeout);
  absl::StatusOr<SessionRef> state =
      wait_for<SessionRef>(*host_, [options = std::move(options), deadline](Client& client, Callback<SessionRef> done) mutable {
        client.open_session({.ttl = options.ttl,
                             .metadata = std::move(options.metadata),
                             .deadline = deadline,
                             .on_phase = std::move(options.on_phase)},
                            std::move(done));
      });
  if (!state.ok()) return state.status();
  return Session(std::make_shared<SessionHandle>(host_, *std::move(state)));
}

absl::StatusOr<PutResult> Replica::put(std::string key, std::string value, ProposeOptions options) {
  return wait_for<PutResult>(
      *host_, [key = std::move(key), value = std::move(value), options = host_->write_options(std::move(options))](
                  Client& client, Callback<PutResult> done) mutable {
        client.put(std::move(key), std::move(value), std::move(done), std::move(options));
      });
}

absl::StatusOr<GetResult> Replica::get(std::string key, ReadOptions options) {
  return wait_for<GetResult>(*host_, [key = std::move(key), options](Client& client, Callback<GetResult> done) mutable {
    client.get(std::move(key), std::move(done), {}, options);
  });
}

absl::StatusOr<EraseResult> Replica::erase(std::string key, ProposeOptions options) {
  return wait_for<EraseResult>(*host_, [key = std::move(key), options = host_->write_options(std::move(options))](
                                           Client& client, Callback<EraseResult> done) mutable {
    client.erase(std::move(key), std::move(done), std::move(options));
  });
}

absl::StatusOr<ProposeResult> Replica::propose(MachineId machine, std::string command, ProposeOptions options) {
  return wait_for<ProposeResult>(*host_,
                                 [machine, command = std::move(command), options = host_->write_options(std::move(options))](
                                     Client& client, Callback<ProposeResult> done) mutable {
                                   client.propose(machine, std::move(command), std::move(done), std::move(options));
                                 });
}

void Replica::propose_async(MachineId machine, std::string command, ProposeOptions options, Callback<ProposeResult> done) {
  host_->call([machine, command = std::move(command), options = host_->write_options(std::move(options)),
               done = std::move(done)](Client& client) mutable {
    client.propose(machine, std::move(command), std::move(done), std::move(options));
  });
}

absl::StatusOr<QueryResult> Replica::query(MachineId machine, std::string question, QueryOptions options) {
  return wait_for<QueryResult>(
      *host_, [machine, question = std::move(question), read = options.read, deadline = host_->deadline(options.timeout)](
                  Client& client, Callback<QueryResult> done) mutable {
        client.query(machine, std::move(question), std::move(done), deadline, read);
      });
}

void Replica::query_async(MachineId machine, std::string question, QueryOptions options, Callback<QueryResult> done) {
  host_->call([machine, question = std::move(question), read = options.read, deadline = host_->deadline(options.timeout),
               done = std::move(done)](Client& client) mutable {
    client.query(machine, std::move(question), std::move(done), deadline, read);
  });
}

absl::StatusOr<LockInfo> Replica::holders(std::string name) {
  return wait_for<LockInfo>(*host_, [name = std::move(name)](Client& client, Callback<LockInfo> done) mutable {
    client.holders(std::move(name), std::move(done));
  });
}

absl::StatusOr<QueueInfo> Replica::queue(std::string name) {
  return wait_for<QueueInfo>(*host_, [name = std::move(name)](Client& client, Callback<QueueInfo> done) mutable {
    client.queue(std::move(name), std::move(done));
  });
}

absl::StatusOr<Index> Replica::change_membership(MembershipChange change, MembershipOptions options) {
  return wait_for<Index>(*host_, [host = host_.get(), change = std::move(change), options](Client&, Callback<Index> done) {
    host->change_members(change, options, std::move(done));
  });
}

void Replica::change_membership_async(MembershipChange change, MembershipOptions options, Callback<Index> done) {
  host_->call([host = host_.get(), change = std::move(change), options, done = std::move(done)](Client&) mutable {
    host->change_members(change, options, std::move(done));
  });
}

MemberList Replica::members() const { return host_->health().members; }

absl::Status Replica::transfer_leadership(std::optional<uint64_t> target, Duration timeout) {
  return wait_for_done(*host_, [host = host_.get(), target, timeout](Client&, DoneCallback done) {
    host->transfer_leadership(target, timeout, std::move(done));
  });
}

void Replica::transfer_leadership_async(std::optional<uint64_t> target, Duration timeout, DoneCallback done) {
  host_->call([host = host_.get(), target, timeout, done = std::move(done)](Client&) mutable {
    host->transfer_leadership(target, timeout, std::move(done));
  });
}

Health Replica::health() const { return host_->health(); }

absl::Status Replica::wait_ready(Duration timeout) const { return host_->wait_ready(timeout); }

}  // namespace coordkit
