#include "log/recovery.h"

#include <algorithm>
#include <map>

#include "coordkit/error.h"

namespace coordkit::log {
namespace {

constexpr uint32_t kUnknownEnd = 0;  // the successor that would record it is lost

// One segment of the chain, newest first while the chain is followed.
struct Link {
  uint32_t segment = 0;
  uint32_t end = kUnknownEnd;  // the end of its valid bytes; unused for the newest
  bool missing_after = false;  // the successor to which its data belongs is missing
  std::optional<SegmentHeader> header;
  size_t spoiled_copies = 0;  // of the header
  DiskPosition mark;          // the highest mark in it
  uint64_t bytes = 0;

  // Bytes behind the capacity belong to no segment.
  uint64_t bytes_max() const { return header ? std::min(header->capacity, kSegmentBytesMax) : kSegmentBytesMax; }
  // A segment has all its bytes before it has its name. So a crash did not cut a segment that lacks some of them.
  bool cut_short() const { return header && bytes < bytes_max(); }
};

absl::Status foreign(std::string_view name) {
  return make_error(Reason::ForeignData,
                    "the log directory holds '" + std::string(name) +
                        "', which is not a file of this log; move it away or choose another data directory");
}

class Recoverer {
 public:
  Recoverer(FileSystem& files, StoreId store, Index checkpointed) : files_(files), store_(store), checkpointed_(checkpointed) {}

  absl::StatusOr<Recovery> run() {
    for (auto step : {&Recoverer::list, &Recoverer::follow_chain, &Recoverer::survey, &Recoverer::replay}) {
      if (absl::Status status = (this->*step)(); !status.ok()) return status;
    }
    name_unused();
    return std::move(result_);
  }

 private:
  RecordKey key(uint32_t segment) const { return {store_, segment}; }

  absl::StatusOr<std::string> read(uint32_t segment, uint64_t bytes_max) {
    absl::StatusOr<std::unique_ptr<File>> file = files_.open(file_name(FileUse::Segment, segment), OpenMode::Read);
    if (!file.ok()) return file.status();
    absl::StatusOr<uint64_t> size = (*file)->size();
    if (!size.ok()) return size.status();
    return (*file)->pread(0, std::min(*size, bytes_max));
  }

  absl::Status list() {
    absl::StatusOr<std::vector<std::string>> names = files_.list();
    if (!names.ok()) return names.status();
    for (const std::string& name : *names) {
      const std::optional<ParsedName> parsed = parse_name(name);
      if (!parsed) return foreign(name);
      result_.number_max = std::max(result_.number_max, parsed->number);
      result_.unused.push_back(*parsed);
      if (parsed->use == FileUse::Segment) present_.push_back(parsed->number);
    }
    std::sort(present_.begin(), present_.end());
    return absl::OkStatus();
  }

  // Follows the chain from the newest segment to its predecessor and so on. Where a link is lost, the next older file is
  // taken instead.
  absl::Status follow_chain() {
    if (present_.empty()) return absl::OkStatus();
    for (Link link{.segment = present_.back()}; link.segment != 0;) {
      absl::StatusOr<std::string> head = read(link.segment, kFirstBatchOffset);
      if (!head.ok()) return head.status();
      FoundHeader found = find_header(*head, key(link.segment));
      if (found.fault == HeaderFault::NewerFormat) {
        return make_error(Reason::NewerFormat,
                          "the log was written by a newer version of coordkit: start a newer build on this directory");
      }
      link.header = found.header;
      if (found.header) {
        result_.format = std::max(result_.format, found.header->format);
        link.spoiled_copies = spoiled_copies(*head, *found.header).size();
      }
      links_.push_back(link);
      link = predecessor(link);
    }
    std::reverse(links_.begin(), links_.end());
    return absl::OkStatus();
  }

  Link predecessor(const Link& link) const {
    if (link.header && link.header->predecessor == 0) return {};
    const uint32_t wanted = link.header ? link.header->predecessor : link.segment - 1;
    auto at = std::upper_bound(present_.begin(), present_.end(), wanted);
    if (at == present_.begin()) return {};
    const uint32_t found = *--at;
    const bool linked = link.header && found == wanted;
    return {.segment = found, .end = linked ? link.header->predecessor_end : kUnknownEnd, .missing_after = found != wanted};
  }

  // Reads every batch boundary, before anything is decided.
  absl::Status survey() {
    for (Link& link : links_) {
      absl::StatusOr<std::string> bytes = read(link.segment, link.bytes_max());
      if (!bytes.ok()) return bytes.status();
      const bool newest = &link == &links_.back();
      const bool batches = survey_segment(link, *bytes, newest);
      if (newest && !link.header && !batches) {
        return make_error(Reason::Corrupt, "the newest segment of the log, " + file_name(FileUse::Segment, link.segment) +
                                               ", is unreadable: neither the vote nor the end of the log can be proved");
      }
      if (newest && link.cut_short()) {
        return make_error(Reason::Corrupt, "the newest segment of the log, " + file_name(FileUse::Segment, link.segment) +
                                               ", was cut short to " + std::to_string(link.bytes) + " of its " +
                                               std::to_string(link.header->capacity) +
                                               " bytes: the end of the log cannot be proved");
      }
    }
    std::erase_if(links_, [this](const Link& link) { return link.segment < first_live_; });
    return absl::OkStatus();
  }

  // Finds the highest mark and the segments that may be ignored. A torn batch does not count for the latter: its sync never
  // returned.
  bool survey_segment(Link& link, std::string_view bytes, bool newest) {
    struct Boundary {
      uint32_t offset = 0;
      uint32_t first_segment = 0;
    };
    std::vector<Boundary> boundaries;
    link.bytes = bytes.size();
    link.mark = {link.segment, link.header ? link.header->synced_end : kFirstBatchOffset};
    if (link.header) first_live_ = std::max(first_live_, link.header->state.first_segment);
    for (size_t at = kFirstBatchOffset; at < bytes.size();) {
      const std::optional<FoundBatch> batch = find_batch(bytes, at, key(link.segment));
      at = batch ? batch->end() : at + kBlockBytes;
      if (!batch) continue;
      link.mark = std::max(link.mark, batch->durable);
      boundaries.push_back({batch->offset, batch->mark.state.first_segment});
    }
    for (size_t valid = sure_end(link, newest); const Boundary& boundary : boundaries) {
      if (newest && boundary.offset == valid) valid = end_if_whole(bytes, boundary.offset, link.segment).value_or(valid);
      if (boundary.offset < valid) first_live_ = std::max(first_live_, boundary.first_segment);
    }
    return !boundaries.empty();
  }

  // Below it every batch is durable.
  static uint32_t sure_end(const Link& link, bool newest) {
    return newest || link.end == kUnknownEnd ? link.mark.offset : link.end;
  }

  static bool whole(const FoundBatch& batch, const std::vector<Record>& records) {
    return records.size() == batch.mark.records &&
           std::all_of(records.begin(), records.end(), [](const Record& record) { return record.payload_intact; });
  }

  std::optional<size_t> end_if_whole(std::string_view bytes, size_t at, uint32_t segment) const {
    const std::optional<FoundBatch> batch = find_batch(bytes, at, key(segment));
    if (!batch || !whole(*batch, find_records(bytes, at, batch->end(), key(segment)))) return std::nullopt;
    return batch->end();
  }

  absl::Status replay() {
    for (const Link& link : links_) {
      absl::StatusOr<std::string> bytes = read(link.segment, link.bytes_max());
      if (!bytes.ok()) return bytes.status();
      const bool newest = &link == &links_.back();
      if (newest) {
        result_.newest = link.header;
        result_.older_previous = replay_.previous();
        result_.durable = link.mark;
      }
      if (const bool first = &link == &links_.front(); first && oldest_is_missing(link)) replay_.segment_missing();
      if (link.header) {
        replay_.segment(link.segment, link.header->state);
      } else {
        replay_.segment_unreadable(link.segment);
        result_.newest_whole = result_.newest_whole && !newest;
      }
      replay_segment(link, *bytes, newest);
      if (!newest) replay_.leave_out_payloads(checkpointed_);  // payloads in the newest may have to be rewritten
      if (link.missing_after) replay_.segment_missing();
      result_.chain.push_back({link.segment, link.bytes, link.header, link.spoiled_copies});
    }
    if (replay_.end_unknown()) {
      return make_error(Reason::Corrupt, "the newest segment of the log, " +
                                             file_name(FileUse::Segment, links_.back().segment) +
                                             ", is rotten up to its end: the end of the log cannot be proved");
    }
    result_.state = replay_.state();
    result_.slots = std::move(replay_.slots());
    result_.peers = replay_.peers();
    return absl::OkStatus();
  }

  bool oldest_is_missing(const Link& link) const {
    return link.header && link.header->predecessor != 0 && link.header->predecessor >= first_live_;
  }

  // Batches below `sure` are durable: bytes there that do not verify are rot. From there on the first flaw ends the log.
  void replay_segment(const Link& link, std::string_view bytes, bool newest) {
    const uint32_t sure = sure_end(link, newest);
    size_t at = kFirstBatchOffset;
    while (at < sure || (newest && at < bytes.size())) {
      const std::optional<FoundBatch> batch = find_batch(bytes, at, key(link.segment));
      const std::vector<Identity>& previous = batch ? batch->mark.previous : replay_.previous();
      if (newest && at <= sure) result_.sure_previous = previous;
      if (newest && at == kFirstBatchOffset) result_.older_previous = previous;
      if (!batch && at >= sure) break;
      if (!batch) {
        const size_t next = next_batch(bytes, at, sure, link.segment);
        if (!is_closing_mark(link, at, next))
          replay_.lost(find_records(bytes, at, std::min(next, bytes.size()), key(link.segment)), next - at);
        if (newest) result_.newest_whole = false;
        at = next;
        continue;
      }
      const std::vector<Record> records = find_records(bytes, at, batch->end(), key(link.segment));
      const bool flawed = !whole(*batch, records);
      if (flawed && at >= sure) {
        if (replay_.end_unknown()) replay_.stated(batch->mark);
        break;
      }
      if (flawed && newest) result_.newest_whole = false;
      replay_.batch(batch->mark, records);
      at = batch->end();
    }
    if (newest && at <= sure) result_.sure_previous = replay_.previous();
    if (newest) result_.newest_end = static_cast<uint32_t>(at);
  }

  // The batch without entries that ends the entries carried over by an open. It only says that nothing follows.
  bool is_closing_mark(const Link& link, size_t at, size_t end) const {
    return link.header && end == link.header->synced_end && !replay_.end_unknown() &&
           at + mark_batch_bytes(replay_.previous(), link.header->format) == end;
  }

  size_t next_batch(std::string_view bytes, size_t at, size_t sure, uint32_t segment) const {
    for (at += kBlockBytes; at < sure; at += kBlockBytes) {
      if (find_batch(bytes, at, key(segment))) return at;
    }
    return sure;
  }

  void name_unused() {
    std::erase_if(result_.unused, [this](const ParsedName& name) {
      return name.use == FileUse::Segment && std::any_of(result_.chain.begin(), result_.chain.end(),
                                                         [&](const SegmentFile& f) { return f.segment == name.number; });
    });
  }

  FileSystem& files_;
  const StoreId store_;
  const Index checkpointed_;
  std::vector<uint32_t> present_;
  std::vector<Link> links_;  // oldest first
  uint32_t first_live_ = 1;
  Replay replay_;
  Recovery result_;
};

}  // namespace

absl::StatusOr<Recovery> recover(FileSystem& files, StoreId store, Index checkpointed) {
  return Recoverer(files, store, checkpointed).run();
}

}  // namespace coordkit::log
