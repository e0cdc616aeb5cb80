#include "replica/shell/guarded_parts.h"

#include <atomic>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/thrown.h"
#include "coordkit/error.h"

namespace coordkit {
namespace {

// "the log store threw in submit(): ..."
absl::Status thrown(std::string_view where, std::string_view why) {
  std::string sentence("the ");
  return make_error(Reason::HostThrew, sentence.append(where).append(": ").append(why));
}

// The answer of the call, a status or something with one, or the exception that it threw.
template <typename Call>
auto answer(std::string_view where, Call call) -> decltype(call()) {
  try {
    return call();
  } catch (...) {
    return thrown(where, what_was_thrown());
  }
}
template <typename Call>
absl::Status run(std::string_view where, Call call) {
  return answer(where, [&] { return call(), absl::OkStatus(); });
}
template <typename T, typename Call>
T value_or(T otherwise, Call call) {
  return answer({}, [&]() -> absl::StatusOr<T> { return call(); }).value_or(otherwise);
}
// A pointer besides, which an adapter must not forget.
template <typename Call>
auto made(std::string_view where, Call call) -> decltype(call()) {
  auto one = answer(where, std::move(call));
  if (one.ok() && *one == nullptr) return thrown(where, "it returned null");
  return one;
}

class GuardedTransport final : public Transport {
 public:
  explicit GuardedTransport(std::unique_ptr<Transport> transport) : transport_(std::move(transport)) {}

  absl::Status start(Hello self, std::vector<Peer> peers, TransportSink& sink) override {
    self_ = self.from;
    sink_ = &sink;
    peers_ = peers;
    return answer("transport threw in start()", [&] { return transport_->start(std::move(self), std::move(peers), sink); });
  }
  void set_cluster(ClusterId cluster) override {
    tell_all(run("transport threw in set_cluster()", [&] { transport_->set_cluster(cluster); }));
  }
  void set_peers(std::vector<Peer> peers) override {
    peers_ = peers;
    tell_all(run("transport threw in set_peers()", [&] { transport_->set_peers(std::move(peers)); }));
  }
  void send(ReplicaId to, std::vector<Frame> frames) override {
    tell(to, run("transport threw in send()", [&] { transport_->send(to, std::move(frames)); }));
  }
  void close() override {
    run({}, [&] { transport_->close(); }).IgnoreError();
  }  // nobody is left to be told

 private:
  void tell(ReplicaId peer, const absl::Status& status) {
    if (!status.ok() && peer != self_) sink_->peer_unreachable(peer, std::string(sentence_of(status)));
  }
  void tell_all(const absl::Status& status) {
    for (const Peer& peer : peers_) tell(peer.id, status);
  }

  const std::unique_ptr<Transport> transport_;
  TransportSink* sink_ = nullptr;
  ReplicaId self_;
  std::vector<Peer> peers_;
};

class GuardedLogStore final : public LogStore {
 public:
  explicit GuardedLogStore(std::unique_ptr<LogStore> store) : store_(std::move(store)) {}

  void checkpointed(Index applied) override {
    before_ = run("log store threw in checkpointed()", [&] { store_->checkpointed(applied); });
  }
  absl::StatusOr<RecoveredLog> open(LogSink& sink) override {
    if (!before_.ok()) return before_;
    sink_ = &sink;
    return answer("log store threw in open()", [&] { return store_->open(sink); });
  }
  uint64_t bytes_written() const override {
    return value_or(uint64_t{0}, [&] { return store_->bytes_written(); });
  }
  uint64_t index_bytes() const override {
    return value_or(uint64_t{0}, [&] { return store_->index_bytes(); });
  }
  void submit(LogWrite write) override {
    attempt("log store threw in submit()", [&] { store_->submit(std::move(write)); });
  }
  bool defer(LogWrite write) override {
    bool waits = false;
    attempt("log store threw in defer()", [&] { waits = store_->defer(std::move(write)); });
    return waits;
  }
  void perform_deferred() override {
    attempt("log store threw in perform_deferred()", [&] { store_->perform_deferred(); });
  }
  void read(Index first, Index last, size_t bytes_max) override {
    attempt("log store threw in read()", [&] { store_->read(first, last, bytes_max); });
  }
  // One that is not answered would be waited for.
  void scrub(Index from, std::function<void(LogScrub)> done) override {
    if (!attempt("log store threw in scrub()", [&] { store_->scrub(from, done); })) done({});
  }
  void compact(Position through) override {
    attempt("log store threw in compact()", [&] { store_->compact(through); });
  }
  void close() override {
    run({}, [&] { store_->close(); }).IgnoreError();
  }

 private:
  // Once it has thrown nothing is attempted any more, as after a failed sync.
  template <typename Call>
  bool attempt(std::string_view where, Call call) {
    if (failed_) return false;
    const absl::Status status = run(where, std::move(call));
    if (!status.ok() && !failed_.exchange(true)) sink_->log_failed(status);
    return status.ok();
  }

  const std::unique_ptr<LogStore> store_;
  LogSink* sink_ = nullptr;
  absl::Status before_;  // open()
  std::atomic<bool> failed_{false};
};

class GuardedView final : public CheckpointView {
 public:
  explicit GuardedView(std::unique_ptr<CheckpointView> view)
      : view_(std::move(view)), applied_(view_->applied()), installed_(view_->installed()) {}

  Position applied() const override { return applied_; }
  bool installed() const override { return installed_; }
  absl::Status scan(std::string_view prefix, Visitor visit) const override {
    return visited(visit, "scan()", [&](Visitor each) { return view_->scan(prefix, each); });
  }
  absl::Status scan_range(const KeyRange& range, Visitor visit) const override {
    return visited(visit, "scan_range()", [&](Visitor each) { return view_->scan_range(range, each); });
  }
  // Zero is not theirs, so no peer takes these rows.
  uint64_t digest() const override {
    return value_or(uint64_t{0}, [&] { return view_->digest(); });
  }

 private:
  // An exception of the visitor is its caller's.
  template <typename Scan>
  static absl::Status visited(Visitor visit, std::string_view call, Scan scan) {
    std::exception_ptr visitors;
    const absl::Status status = answer(std::string("state store's view threw in ").append(call), [&] {
      return scan([&](std::string_view key, std::string_view value) {
        try {
          return visit(key, value);
        } catch (...) {
          visitors = std::current_exception();
          return absl::AbortedError("the visitor threw");
        }
      });
    });
    if (visitors) std::rethrow_exception(visitors);
    return status;
  }

  const std::unique_ptr<CheckpointView> view_;
  const Position applied_;
  const bool installed_;
};

class GuardedStateStore final : public StateStore {
 public:
  explicit GuardedStateStore(std::unique_ptr<StateStore> store) : store_(std::move(store)) {}

  absl::StatusOr<Position> open(StateSink& sink) override {
    sink_ = &sink;
    return answer("state store threw in open()", [&] { return store_->open(sink); });
  }
  void commit(CheckpointBatch batch) override {
    attempt("state store threw in commit()", [&] { store_->commit(std::move(batch)); });
  }
  void stage(Ticket ticket, KeyRange range, std::vector<CheckpointBatch::Row> rows) override {
    attempt("state store threw in stage()", [&] { store_->stage(ticket, std::move(range), std::move(rows)); });
  }
  void install(Position applied, uint64_t digest) override {
    attempt("state store threw in install()", [&] { store_->install(applied, digest); });
  }
  void unstage() override {
    attempt("state store threw in unstage()", [&] { store_->unstage(); });
  }
  absl::StatusOr<std::unique_ptr<CheckpointView>> view() override {
    auto one = made("state store failed in view()", [&] { return store_->view(); });
    if (!one.ok()) return one;
    return answer("state store's view threw", [&]() -> absl::StatusOr<std::unique_ptr<CheckpointView>> {
      return std::make_unique<GuardedView>(*std::move(one));
    });
  }
  absl::Status scrub(Pace pace) override {
    return answer("state store threw in scrub()", [&] { return store_->scrub(pace); });
  }
  void close() override {
    run({}, [&] { store_->close(); }).IgnoreError();
  }

 private:
  template <typename Call>
  void attempt(std::string_view where, Call call) {
    if (failed_) return;
    const absl::Status status = run(where, std::move(call));
    if (!status.ok() && !failed_.exchange(true)) sink_->checkpoint_failed(status);
  }

  const std::unique_ptr<StateStore> store_;
  StateSink* sink_ = nullptr;
  std::atomic<bool> failed_{false};
};

class GuardedFile final : public File {
 public:
  explicit GuardedFile(std::unique_ptr<File> file) : file_(std::move(file)) {}

  absl::Status pwrite(uint64_t offset, std::string_view bytes) override {
    return answer("log's files threw in pwrite()", [&] { return file_->pwrite(offset, bytes); });
  }
  absl::StatusOr<std::string> pread(uint64_t offset, size_t length) const override {
    return answer("log's files threw in pread()", [&] { return file_->pread(offset, length); });
  }
  absl::Status sync() override {
    return answer("log's files threw in sync()", [&] { return file_->sync(); });
  }
  absl::StatusOr<uint64_t> size() const override {
    return answer("log's files threw in size()", [&] { return file_->size(); });
  }
  FileIdentity identity() const override {
    return value_or(FileIdentity(), [&] { return file_->identity(); });
  }

 private:
  const std::unique_ptr<File> file_;
};

class GuardedFileSystem final : public FileSystem {
 public:
  explicit GuardedFileSystem(std::unique_ptr<FileSystem> files) : files_(std::move(files)) {}

  absl::StatusOr<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override {
    auto file = made("log's files failed in open()", [&] { return files_->open(name, mode); });
    if (!file.ok()) return file;
    return std::make_unique<GuardedFile>(*std::move(file));
  }
  absl::Status rename(std::string_view from, std::string_view to) override {
    return answer("log's files threw in rename()", [&] { return files_->rename(from, to); });
  }
  absl::Status remove(std::string_view name) override {
    return answer("log's files threw in remove()", [&] { return files_->remove(name); });
  }
  absl::Status sync_dir() override {
    return answer("log's files threw in sync_dir()", [&] { return files_->sync_dir(); });
  }
  absl::StatusOr<std::vector<std::string>> list() override {
    return answer("log's files threw in list()", [&] { return files_->list(); });
  }
  absl::StatusOr<uint64_t> free_bytes() override {
    return answer("log's files threw in free_bytes()", [&] { return files_->free_bytes(); });
  }
  absl::StatusOr<FileIdentity> identity_of(std::string_view name) const override {
    return answer("log's files threw in identity_of()", [&] { return files_->identity_of(name); });
  }
  absl::Status still_there() const override {
    return answer("log's files threw in still_there()", [&] { return files_->still_there(); });
  }

 private:
  const std::unique_ptr<FileSystem> files_;
};

}  // namespace

std::unique_ptr<Transport> guarded(std::unique_ptr<Transport> transport) {
  return std::make_unique<GuardedTransport>(std::move(transport));
}
std::unique_ptr<LogStore> guarded(std::unique_ptr<LogStore> store) {
  return std::make_unique<GuardedLogStore>(std::move(store));
}
std::unique_ptr<StateStore> guarded(std::unique_ptr<StateStore> store) {
  return std::make_unique<GuardedStateStore>(std::move(store));
}
std::unique_ptr<FileSystem> guarded(std::unique_ptr<FileSystem> files) {
  return std::make_unique<GuardedFileSystem>(std::move(files));
}

}  // namespace coordkit
