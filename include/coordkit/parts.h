// What a replica is made of besides its engine: door 1 has a transport over TCP, a log of segments, checkpoints in LMDB and
// a thread of its own in the box, and takes yours in their place, each by a factory in ReplicaOptions::parts.
//
//   options.parts.log_store = [](const PartContext& part) { return std::make_unique<MyLog>(part.store, part.boot); };
//   options.parts = in_memory(hub);     // for unit tests: no disk, no socket
//
// What a part may rely on and what it must do stands in the header of its port; the suites in coordkit/testing show whether it
// does. A factory is called once by each Replica::open, on the thread that calls it; the replica owns what it gives, closes it
// before it destroys it, and does both before close() returns. An error or exception of a factory is open()'s, and leaves
// nothing. A store that throws later halts its replica, a transport loses frames. Examples: examples/14_own_log_store and 15.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "coordkit/clock.h"
#include "coordkit/executor.h"
#include "coordkit/export.h"
#include "coordkit/file_system.h"
#include "coordkit/log_store.h"
#include "coordkit/state_store.h"
#include "coordkit/transport.h"
#include "coordkit/types.h"

namespace COORDKIT_EXPORT coordkit {

class DataDirectory;  // coordkit/storage/data_directory.h
class LoopbackHub;    // coordkit/transport/loopback_transport.h

// What a part is made for.
struct PartContext {
  explicit PartContext(std::shared_ptr<DataDirectory> of = nullptr) : directory_(std::move(of)) {}

  ReplicaId replica;
  std::string cluster;  // its name
  std::string address;  // ReplicaOptions::listen, or the member's own
  // Opened and locked for this replica alone; never null. Files of yours go below its log_path() or state_path(); anywhere else
  // the next open takes them for another replica's. Throws std::invalid_argument if ReplicaOptions::data_dir is empty: a
  // factory that lets it pass fails open() with a sentence that says so.
  const std::shared_ptr<DataDirectory>& directory() const;
  // What a log store answers as its own: the directory's identity, and how often it was opened. Without a directory a store
  // that was drawn for this opening; a log store that keeps anything keeps an identity of its own as well, and answers that.
  StoreId store;
  BootCounter boot;

 private:
  std::shared_ptr<DataDirectory> directory_;
};

template <typename Part>
using PartFactory = std::function<absl::StatusOr<std::unique_ptr<Part>>(const PartContext&)>;

// What is empty is the one in the box.
struct Parts {
  // Addresses of members are what this transport understands, and ReplicaOptions::security is its own affair. Its sink keeps
  // what arrives until the next turn: up to 256 MiB, then the newest is dropped.
  PartFactory<Transport> transport = {};
  PartFactory<LogStore> log_store = {};
  PartFactory<StateStore> state_store = {};
  // The one directory under the segmented log in the box, called twice: each of its two threads has one for itself.
  PartFactory<FileSystem> log_files = {};
  // In place of the system's. Both readings pass as real time does, within ReplicaOptions::rate_error_ppm, because threads
  // sleep by the kernel's clock. Outlives the replica and every handle of it.
  const Clock* clock = nullptr;
  // Runs the engine's turns in place of a thread of the replica's own; the TCP transport in the box then has a thread for
  // itself. On the only thread of an executor blocking calls and close() are refused (InCallback), if it can tell
  // (Executor::runs_in_this_thread); use the *_async functions there, or coordkit/asio.h.
  std::shared_ptr<Executor> executor = {};
};

// For unit tests of a host: parts that touch neither disk nor network. `memory_stores` forget with their replica.
Parts memory_stores();
PartFactory<Transport> loopback(LoopbackHub& hub);  // the hub outlives the replicas
Parts in_memory(LoopbackHub& hub);                  // both: replicas with these need no data_dir and no security

}  // namespace coordkit
