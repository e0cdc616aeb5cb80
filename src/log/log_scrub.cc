// Reads the log once more: its entries, and the headers of its segments, which nothing else reads before the next start.
#include <algorithm>
#include <limits>

#include "coordkit/error.h"
#include "log/log.h"

namespace coordkit::log {
namespace {

absl::Status spoiled(uint32_t segment, bool both, const std::string& what_follows) {
  return make_error(Reason::Corrupt, (both ? "both copies of the header of " : "one of the two copies of the header of ") +
                                         file_name(FileUse::Segment, segment) + " did not verify; " + what_follows);
}

struct HeaderCheck {
  absl::Status found;    // OK: both copies verify
  absl::Status failure;  // of a write or a sync
};

// Rewrites the copies that do not verify, one at a time, so that a crash leaves the other copy. An unreadable copy counts as
// spoiled.
HeaderCheck mend(FileSystem& files, const File& segment, const SegmentHeader& header, GroupId group) {
  const absl::StatusOr<std::string> read = segment.pread(0, kFirstBatchOffset);
  const std::vector<uint32_t> copies = spoiled_copies(read.ok() ? *read : std::string(), header);
  if (copies.empty()) return {};
  const auto found = [&](const std::string& what) { return spoiled(header.segment, copies.size() > 1, what); };
  constexpr char kLater[] = "the next scrub writes it again, for now: ";
  const absl::StatusOr<std::unique_ptr<File>> file =
      files.open(file_name(FileUse::Segment, header.segment), OpenMode::ReadWrite);
  if (!file.ok()) return {found(kLater + std::string(sentence_of(file.status()))), absl::OkStatus()};
  const std::string whole = encode(header, group);
  absl::Status failure;
  for (const uint32_t copy : copies) {
    if (failure.ok()) failure = (*file)->pwrite(copy, std::string_view(whole).substr(copy, kBlockBytes));
    if (failure.ok()) failure = (*file)->sync();
  }
  return {found(failure.ok() ? "it is written again" : kLater + std::string(sentence_of(failure))), failure};
}

absl::Status joined(const absl::Status& first, const absl::Status& second) {
  if (first.ok()) return second;
  return make_error(Reason::Corrupt, std::string(sentence_of(first)) + "; " + std::string(sentence_of(second)));
}

}  // namespace

// The headers of each part are those from the segment of the entry before it to the segment of its last entry.
LogScrub Log::scrub(Index from, size_t bytes_max) {
  LogScrub found;
  if (!failure_.ok()) return found;
  RecordReader reader;
  Index index = std::max(from, state_.base.index.next());
  const Index before(index.value() - 1);
  const uint32_t looked_at = index_.contains(before) ? index_[before].home : 0;
  for (; index <= state_.last.index && found.bytes < bytes_max; index = index.next()) {
    const absl::StatusOr<raft::Entry> entry = read_one(index, reader);
    found.bytes = reader.bytes_read();
    if (entry.ok()) continue;
    if (!found.first_bad) {
      found.first_bad = index;
      found.why = entry.status();
    }
    found.last_bad = index;
  }
  const bool ended = index > state_.last.index;
  const uint32_t through = ended ? std::numeric_limits<uint32_t>::max() : index_[Index(index.value() - 1)].home;
  for (auto at = segments_.upper_bound(looked_at); at != segments_.end() && at->first <= through; ++at) {
    const Segment& segment = at->second;
    if (!segment.header) continue;
    found.bytes += kFirstBatchOffset;
    const HeaderCheck header = mend(files_, *segment.file, *segment.header, options_.group);
    if (!header.found.ok()) found.why = joined(found.why, header.found);
    const bool in_doubt = at->first == in_use_.segment && !absl::IsResourceExhausted(header.failure);
    if (in_doubt) final_failure(header.failure).IgnoreError();  // a batch may wait for a sync
  }
  if (failure_.ok() && !ended) found.next = index;
  return found;
}

absl::Status Log::look_for_files() {
  if (!failure_.ok()) return failure_;
  constexpr char kCure[] =
      ": new writes would be missing at the next start. If it was moved, stop this process, move it back and start; "
      "otherwise replace this member";
  const absl::Status directory = files_.still_there();
  if (!directory.ok()) return final_failure(make_error(Reason::StorageFailed, std::string(sentence_of(directory)) + kCure));
  for (const auto& [number, segment] : segments_) {
    const std::string name = file_name(FileUse::Segment, number);
    const FileIdentity opened = segment.file->identity();
    const absl::StatusOr<FileIdentity> named = files_.identity_of(name);
    if (named.ok() ? *named == opened : !absl::IsNotFound(named.status())) continue;
    if (opened == FileIdentity()) continue;
    return final_failure(make_error(Reason::StorageFailed, "the file " + name +
                                                               " of the log was removed, moved or replaced under the running "
                                                               "replica" +
                                                               kCure));
  }
  return absl::OkStatus();
}

}  // namespace coordkit::log
