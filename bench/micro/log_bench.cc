// The segmented log on a disk that is memory: a batch is appended and synced, and compacted after a while.
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/sums.h"
#include "coordkit/ports/file_system.h"
#include "coordkit/raft/content_sum.h"
#include "log/log.h"

namespace coordkit::bench {
namespace {

using Bytes = std::shared_ptr<std::string>;

class MemoryFile final : public File {
 public:
  explicit MemoryFile(Bytes bytes) : bytes_(std::move(bytes)) {}
  absl::Status pwrite(uint64_t offset, std::string_view bytes) override {
    if (bytes_->size() < offset + bytes.size()) bytes_->resize(offset + bytes.size());
    bytes.copy(bytes_->data() + offset, bytes.size());
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> pread(uint64_t offset, size_t length) const override {
    return offset > bytes_->size() ? std::string() : bytes_->substr(offset, length);
  }
  absl::Status sync() override { return absl::OkStatus(); }
  absl::StatusOr<uint64_t> size() const override { return bytes_->size(); }

 private:
  Bytes bytes_;
};

class MemoryFileSystem final : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override {
    if (mode == OpenMode::CreateNew)
      return std::make_unique<MemoryFile>(files_[std::string(name)] = std::make_shared<std::string>());
    const auto found = files_.find(name);
    if (found == files_.end()) return absl::NotFoundError(std::string(name));
    return std::make_unique<MemoryFile>(found->second);
  }
  absl::Status rename(std::string_view from, std::string_view to) override {
    auto moved = files_.extract(std::string(from));
    files_.erase(std::string(to));
    moved.key() = std::string(to);
    files_.insert(std::move(moved));
    return absl::OkStatus();
  }
  absl::Status remove(std::string_view name) override {
    files_.erase(std::string(name));
    return absl::OkStatus();
  }
  absl::Status sync_dir() override { return absl::OkStatus(); }
  absl::StatusOr<std::vector<std::string>> list() override {
    std::vector<std::string> names;
    for (const auto& [name, bytes] : files_) names.push_back(name);
    return names;
  }
  absl::StatusOr<uint64_t> free_bytes() override { return uint64_t{1} << 40; }

 private:
  std::map<std::string, Bytes, std::less<>> files_;
};

constexpr uint64_t kKept = 4096;  // entries, until they are compacted

void log_append(benchmark::State& state) {
  MemoryFileSystem files;
  log::OpenedLog opened = *log::Log::open(files, {.store = StoreId(7)});
  log::Log& log = *opened.log;
  const SharedBytes payload(std::string(60, 'c'));
  Index last;
  WriteNumber number;
  for ([[maybe_unused]] auto _ : state) {
    state.PauseTiming();
    LogWrite write{.number = number = number.next()};
    if (number == WriteNumber(1)) write.hard_state = raft::HardState{Term(1), ReplicaId()};
    for (int64_t i = 0; i < state.range(0); ++i) {
      last = last.next();
      write.entries.push_back({.index = last, .term = Term(1), .kind = raft::EntryKind::Command, .payload = payload});
      write.entries.back().content_sum = content_sum(kOnlyGroup, Term(1), last, raft::EntryKind::Command, payload.view());
    }
    state.ResumeTiming();
    COORDKIT_CHECK(log.append({&write, 1}).ok());
    COORDKIT_CHECK(log.sync().ok());
    if (last.value() > 2 * kKept && last.value() % kKept < static_cast<uint64_t>(state.range(0))) {
      COORDKIT_CHECK(log.compact({Index(last.value() - kKept), Term(1)}).ok());
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(log_append)->Arg(1)->Arg(16)->Arg(64);

}  // namespace
}  // namespace coordkit::bench
