// The parts of a replica besides its engine. Door 1 has built-in ones: a transport over TCP, a log
// of segments, checkpoints in LMDB and a thread of its own. A factory in ReplicaOptions::parts
// replaces each by yours.
//
//   options.parts.log_store = [](const PartContext& part) {
//     return std::make_unique<MyLog>(part.store, part.boot);
//   };
//   options.parts = in_memory(hub);     // for unit tests: no disk, no socket
//
// The header of each port says what a part may rely on and what it must do; the suites in
// coordkit/testing test it.
//
// Threads: each Replica::open calls a factory once, on the thread that calls open().
// Lifetime: the replica owns the part that the factory returns. It closes the part before it
// destroys it, and does both before close() returns.
// Errors: an error or exception of a factory is the error of open(), which then leaves nothing
// behind. A store that throws later halts its replica; a transport that throws loses frames.
// Example: examples/14_own_log_store and examples/15.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "coordkit/export.h"
#include "coordkit/ports/clock.h"
#include "coordkit/ports/executor.h"
#include "coordkit/ports/file_system.h"
#include "coordkit/ports/log_store.h"
#include "coordkit/ports/state_store.h"
#include "coordkit/ports/transport.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

class DataDirectory;  // coordkit/storage/data_directory.h
class LoopbackHub;    // coordkit/transport/loopback_transport.h

// Describes the replica that a part is made for.
struct PartContext {
  // Replica::open() makes it. directory() answers `of`; null: it throws.
  explicit PartContext(std::shared_ptr<DataDirectory> of = nullptr) : directory_(std::move(of)) {}

  ReplicaId replica;    // ReplicaOptions::id
  std::string cluster;  // its name
  std::string address;  // ReplicaOptions::listen, or the member's own
  // Opened and locked for this replica alone; never null. Put files of yours below its log_path()
  // or state_path(): anywhere else the next open takes them for another replica's. Throws
  // std::invalid_argument if ReplicaOptions::data_dir is empty. If a factory lets that exception
  // pass, open() fails with a sentence that says so.
  const std::shared_ptr<DataDirectory>& directory() const;
  // The identity that a log store answers: the directory's identity, and how often it was opened.
  // Without a directory it is a store id drawn for this opening. A log store that keeps anything
  // keeps an identity of its own as well, and answers that.
  StoreId store;
  BootCounter boot;  // how often that store was opened, from 1

 private:
  std::shared_ptr<DataDirectory> directory_;
};

template <typename Part>
// Makes one part. An error, or an exception, becomes that of Replica::open().
using PartFactory = std::function<absl::StatusOr<std::unique_ptr<Part>>(const PartContext&)>;

// An empty factory means the built-in part.
struct Parts {
  // Addresses of members have this transport's form. It takes care of security itself, in place of
  // ReplicaOptions::security. Its sink keeps arrivals until the next turn: up to 256 MiB, then the
  // newest is dropped.
  PartFactory<Transport> transport = {};
  // The replicated log and the hard state on disk. Empty: segments in ReplicaOptions::data_dir.
  PartFactory<LogStore> log_store = {};
  // The checkpoints on disk. Empty: LMDB in ReplicaOptions::data_dir.
  PartFactory<StateStore> state_store = {};
  // The directory under the built-in segmented log. Called twice, for one directory: each of the
  // log's two threads has one object for itself.
  PartFactory<FileSystem> log_files = {};
  // Replaces the system's clock. Both readings pass as real time does, within
  // ReplicaOptions::rate_error_ppm, because threads sleep by the kernel's clock. It outlives the
  // replica and all its handles.
  const Clock* clock = nullptr;
  // Runs the engine's turns instead of a thread of the replica's own. The built-in TCP transport
  // then has a thread for itself. On the only thread of an executor, blocking calls and close() are
  // refused (InCallback), if it can tell (Executor::runs_in_this_thread). Use the *_async functions
  // there, or coordkit/asio/asio.h.
  std::shared_ptr<Executor> executor = {};
};

// For unit tests of a host: parts that touch neither disk nor network. The content of
// `memory_stores` is lost with their replica.
Parts memory_stores();
PartFactory<Transport> loopback(LoopbackHub& hub);  // the hub outlives the replicas
Parts in_memory(LoopbackHub& hub);                  // both: replicas with these need no data_dir
                                                    // and no security

}  // namespace coordkit
