// The log as two tables: one row for each entry, and one for all else. Failures are exceptions of type absl::Status.
//
// An entry is checked by its content sum whenever it is read; the other row has its own sum. What SQLite silently loses
// (a damaged write-ahead log ends early) is for the replica a disk that was rolled back, which the marks of its peers reveal.
#pragma once

#include <coordkit/ports/log_store.h>
#include <coordkit/raft/content_sum.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sqlite.h"

namespace example {

using namespace coordkit;

class LogDatabase {
 public:
  // Opens it under a new boot counter. Touches nothing before it is known that the database is ours, or empty.
  explicit LogDatabase(const std::string& file) : database_(file) {
    const bool blank = database_.run("SELECT count(*) FROM sqlite_schema") == 0;
    if (!blank && database_.run("PRAGMA application_id") != kApplicationId) {
      throw make_error(Reason::ForeignData, file + " is a database of something else");
    }
    database_.run("PRAGMA journal_mode = WAL");
    database_.run("PRAGMA synchronous = FULL");  // a transaction is on the disk when it has ended
    database_.run("BEGIN EXCLUSIVE");
    if (blank) {
      database_.run("CREATE TABLE entry (place INTEGER PRIMARY KEY, term INTEGER, kind INTEGER, sum INTEGER, payload BLOB)");
      database_.run("CREATE TABLE facts (one INTEGER PRIMARY KEY, sum INTEGER, bytes BLOB)");
      database_.run("PRAGMA application_id = " + std::to_string(kApplicationId));
      facts_.store = StoreId(database_.run("SELECT random()") | 1);  // never zero
    } else {
      load_facts();
    }
    facts_.boot = facts_.boot.next();
    save_facts();
    database_.run("COMMIT");
  }

  RecoveredLog recover() {
    RecoveredLog recovered{facts_.store, facts_.boot, facts_.hard_state, facts_.base, {}, {}, peers_};
    Statement rows(database_, "SELECT * FROM entry ORDER BY place");
    for (Index expected = facts_.base.index.next(); rows.step(); expected = expected.next()) {
      raft::Entry entry = entry_of(rows);
      if (entry.index != expected) throw make_error(Reason::Corrupt, "entry " + std::to_string(expected.value()) + " is gone");
      if (intact(entry)) {
        recovered.entries.push_back(std::move(entry));
      } else {
        recovered.damaged.push_back({expected, Term(), 0});  // which part of its row is still right is unknown
      }
    }
    return recovered;
  }

  // What was done since the last commit() is on disk when it returns.
  void begin() { database_.run("BEGIN"); }
  void commit() { database_.run("COMMIT"); }
  void give_up() { database_.give_up(); }

  // ---- inside a transaction

  // The parts in the order of LogWrite.
  void perform(const LogWrite& write) {
    if (write.hard_state) facts_.hard_state = *write.hard_state;
    if (write.reset_to) database_.run("DELETE FROM entry");
    if (write.reset_to) facts_.base = *write.reset_to;
    if (write.truncate_after) {
      Statement(database_, "DELETE FROM entry WHERE place > ?").with(write.truncate_after->value()).step();
    }
    for (const raft::Entry& entry : write.entries) put("INSERT", entry);
    for (const raft::Entry& entry : write.repairs) {
      Statement stored(database_, "SELECT * FROM entry WHERE place = ?");
      if (stored.with(entry.index.value()).step() && !intact(entry_of(stored))) put("REPLACE", entry);
    }
    if (write.peers) peers_ = *write.peers;
    if (write.hard_state || write.reset_to || write.peers) save_facts();
  }

  void forget(Position through) {
    if (through.index <= facts_.base.index) return;
    Statement(database_, "DELETE FROM entry WHERE place <= ?").with(through.index.value()).step();
    facts_.base = through;
    save_facts();
  }

  absl::StatusOr<std::vector<raft::Entry>> read(Index first, Index last, size_t bytes_max) {
    std::vector<raft::Entry> found;
    Statement rows(database_, "SELECT * FROM entry WHERE place BETWEEN ? AND ? ORDER BY place");
    rows.with(first.value()).with(last.value());
    for (size_t bytes = 0; rows.step();) {
      raft::Entry entry = entry_of(rows);
      bytes += entry.bytes();
      if ((bytes > bytes_max && !found.empty()) || entry.index != first + found.size()) break;
      if (!intact(entry)) {
        return make_error(Reason::Corrupt, "entry " + std::to_string(entry.index.value()) + " does not verify");
      }
      found.push_back(std::move(entry));
    }
    if (found.empty()) return absl::OutOfRangeError("entry " + std::to_string(first.value()) + " is not in the log");
    return found;
  }

 private:
  static constexpr uint64_t kApplicationId = 0x636f6f72;  // tells our databases from others

  void put(const std::string& verb, const raft::Entry& entry) {
    Statement row(database_, verb + " INTO entry VALUES (?, ?, ?, ?, ?)");
    row.with(entry.index.value()).with(entry.term.value()).with(static_cast<uint64_t>(entry.kind));
    row.with(entry.content_sum).with(entry.payload.view()).step();
  }
  static raft::Entry entry_of(Statement& row) {
    return {Index(row.number(0)), Term(row.number(1)), static_cast<raft::EntryKind>(row.number(2)), row.number(3),
            SharedBytes(row.bytes(4))};
  }

  static bool intact(const raft::Entry& entry) {
    return entry.content_sum == content_sum(kOnlyGroup, entry.term, entry.index, entry.kind, entry.payload.view());
  }

  // Everything but the entries, in this machine's memory layout.
  struct Facts {
    StoreId store;
    BootCounter boot;
    raft::HardState hard_state;
    Position base;
  };
  void save_facts() {
    std::string bytes(reinterpret_cast<const char*>(&facts_), sizeof facts_);
    bytes.append(reinterpret_cast<const char*>(peers_.data()), peers_.size() * sizeof(PeerMark));
    Statement(database_, "REPLACE INTO facts VALUES (1, ?, ?)").with(sum_of(bytes)).with(bytes).step();
  }
  void load_facts() {
    Statement row(database_, "SELECT sum, bytes FROM facts");
    const std::string bytes = row.step() ? row.bytes(1) : std::string();
    if (bytes.empty() || row.number(0) != sum_of(bytes)) throw make_error(Reason::Corrupt, "the hard state does not verify");
    peers_.resize((bytes.size() - sizeof facts_) / sizeof(PeerMark));
    bytes.copy(reinterpret_cast<char*>(&facts_), sizeof facts_);
    bytes.copy(reinterpret_cast<char*>(peers_.data()), bytes.npos, sizeof facts_);
  }
  static uint64_t sum_of(const std::string& bytes) {  // which verifies only where the layout is the same
    return content_sum(kOnlyGroup, Term(sizeof(Facts)), Index(sizeof(PeerMark)), raft::EntryKind::Command, bytes);
  }
  static_assert(std::is_trivially_copyable_v<Facts> && std::is_trivially_copyable_v<PeerMark>);

  Database database_;
  Facts facts_;
  std::vector<PeerMark> peers_;
};

}  // namespace example
