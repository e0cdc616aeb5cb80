// A disk in memory that remembers every change, so that a test can ask: what if the power had failed right here? It fails the
// n-th call on request, and builds every image a crash may leave. Synced bytes are there; beside them any other 512-byte
// sectors (or whole pages, of which there are fewer) and any name changes, in any combination.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "coordkit/ports/file_system.h"

namespace coordkit::testkit {

inline constexpr size_t kSectorBytes = 512;
inline constexpr size_t kPageBytes = 4096;

// The pieces on which a crash decides one by one, and whether name changes reach the disk in order, as journalled file systems
// guarantee.
struct Pieces {
  size_t bytes = kSectorBytes;
  bool names_in_order = true;
};

using FileId = uint64_t;

// The content of a disk: files by id, and the names of some.
struct Image {
  std::map<FileId, std::string> files;
  std::map<std::string, FileId> names;

  std::string& operator[](const std::string& name) { return files[names.at(name)]; }
};

// One change, in the order they were made.
struct Change {
  enum class Kind : uint8_t { Create, Write, Sync, Rename, Remove, SyncDirectory };
  Kind kind = Kind::Write;
  FileId file = 0;
  uint64_t offset = 0;
  std::string bytes;
  std::string name;  // Create, Remove; Rename: from
  std::string to;
};

class RecordingFs final : public FileSystem {
 public:
  explicit RecordingFs(Image start = {}) : start_(start), now_(std::move(start)) {
    if (!now_.files.empty()) next_file_ = now_.files.rbegin()->first + 1;
  }

  absl::StatusOr<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override;
  absl::Status rename(std::string_view from, std::string_view to) override;
  absl::Status remove(std::string_view name) override;
  absl::Status sync_dir() override;
  absl::StatusOr<std::vector<std::string>> list() override;
  absl::StatusOr<uint64_t> free_bytes() override { return space_ - used(); }

  const Image& now() const { return now_; }
  const std::vector<Change>& changes() const { return changes_; }

  // The call with this number (from 1) fails with this; all later ones work again.
  void fail_call(uint64_t number, absl::Status why) { failing_ = number, why_ = std::move(why); }
  // Every call from now on fails.
  void fail_all_calls(absl::Status why) { all_fail_ = true, why_ = std::move(why); }
  // Every call of this name fails: "sync", "pread" and so on.
  void fail_calls(std::string_view what, absl::Status why) { failing_name_ = what, why_ = std::move(why); }
  // Among the calls that name a spare, finished or not, or go to its bytes: `count` from this one on (from 1) fail.
  void fail_spares(uint64_t from, uint64_t count, absl::Status why) {
    spare_calls_ = 0;
    failing_spare_ = from, failing_spares_ = count, why_ = std::move(why);
  }
  uint64_t spare_calls() const { return spare_calls_; }
  // The call of fail_call() was one of a spare, or the removal of a file: errors that a log does without.
  bool failed_needless() const { return failed_needless_; }
  uint64_t calls() const { return calls_; }
  uint64_t calls_failed() const { return calls_failed_; }  // by their name
  bool has_failed() const { return failing_ != 0 && calls_ >= failing_; }
  // Files may use this much in total.
  void limit_space(uint64_t bytes) { space_ = bytes; }
  uint64_t used() const;

  // The image after the first `count` changes if `survives` decides about everything unsynced by then.
  Image crash(size_t count, const std::function<bool()>& survives, Pieces of = {}) const;
  // How many undecided pieces crash(count, ...) asks about.
  size_t undecided(size_t count, Pieces of = {}) const;

 private:
  class RecordingFile;
  absl::Status enter(std::string_view what, bool spare = false);
  static bool is_spare(std::string_view name);
  bool is_spare(FileId file) const;
  void record(Change change);

  const Image start_;
  Image now_;
  std::vector<Change> changes_;
  FileId next_file_ = 1;
  uint64_t calls_ = 0;
  uint64_t calls_failed_ = 0;
  uint64_t failing_ = 0;
  uint64_t spare_calls_ = 0;
  bool failed_needless_ = false;
  uint64_t failing_spare_ = 0, failing_spares_ = 0;
  bool all_fail_ = false;
  std::string failing_name_;
  absl::Status why_;
  uint64_t space_ = uint64_t{1} << 40;
};

// Calls `check` with images that a crash after any prefix of the changes may leave: all of them if few pieces are undecided,
// otherwise none, all, and `samples` random ones.
void for_each_crash(const RecordingFs& disk, size_t exhaustive_max, size_t samples, uint64_t seed,
                    const std::function<void(size_t count, const Image& image)>& check, Pieces of = {});

}  // namespace coordkit::testkit
