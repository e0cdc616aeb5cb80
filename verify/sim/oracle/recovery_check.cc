#include "sim/oracle/recovery_check.h"

#include <algorithm>
#include <optional>

namespace coordkit::sim {
namespace {

bool is_entry(const LogImage::Record& record, const raft::Entry& found) { return found == record.entry; }

bool is_hole(const LogImage::Record& record, const DamagedEntry& found) {
  return found.index == record.entry.index && (!found.term || found.term == record.entry.term) &&
         (found.content_sum == 0 || found.content_sum == record.entry.content_sum);
}

Position position(const LogImage& image, Index index) {
  return index == image.base.index ? image.base : image.at(index).entry.position();
}

// The base lies between what is surely forgotten and what the log was told to forget.
bool base_agrees(const LogImage& image, Index compacted, Position base) {
  if (base.index < image.base.index || base.index > image.last()) return false;
  return base.index <= std::max(compacted, image.base.index) && base == position(image, base.index);
}

bool agrees(const LogImage& image, Leeway leeway, const log::OpenedLog& found) {
  if (found.hard_state != image.hard_state || !base_agrees(image, leeway.compacted, found.base)) return false;
  if (leeway.intact && found.peers != image.peers) return false;
  if (found.entries.size() + found.damaged.size() != image.last() - found.base.index) return false;
  auto entry = found.entries.begin();
  auto hole = found.damaged.begin();
  for (Index i = found.base.index.next(); i <= image.last(); i = i.next()) {
    const LogImage::Record& record = image.at(i);
    if (hole != found.damaged.end() && is_hole(record, *hole)) {
      ++hole;
    } else if (entry != found.entries.end() && is_entry(record, *entry)) {
      ++entry;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

Recovered check_recovery(LogImage& durable, std::span<const LogWrite> doubtful, Leeway leeway,
                         const std::function<uint64_t(Position)>& history, const log::OpenedLog& found) {
  std::optional<LogImage> later;
  for (size_t writes = 0; !agrees(later ? *later : durable, leeway, found); ++writes) {
    if (writes == doubtful.size()) return Recovered::Otherwise;
    if (!later) later = durable;
    const LogWrite& next = doubtful[writes];
    later->write(next, next.reset_to ? history(*next.reset_to) : 0);
  }
  if (later) durable = *std::move(later);
  durable.forget(found.base);
  durable.peers = found.peers;
  for (LogImage::Record& record : durable.records) record.rotten = false;
  for (const DamagedEntry& damaged : found.damaged) durable.rot(damaged.index);
  return found.damaged.empty() ? Recovered::Exactly : Recovered::WithHoles;
}

}  // namespace coordkit::sim
