// A directory of a simulated machine, byte by byte. It keeps apart, per page, the bytes that programs see (the page cache) and
// those that the disk holds, and names before and after a sync of the directory. It outlives every process of its machine.
//
// A crash of a process changes nothing here. A power loss keeps all that was synced, and any mixture of the other 512-byte
// sectors and of name changes, in any order (or, for names, up to some point, like journalled file systems). Faults are
// switched on from outside; their targets are drawn here, so a run can be repeated.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "coordkit/ports/file_system.h"

namespace coordkit::sim {

inline constexpr size_t kPageBytes = 4096;
inline constexpr size_t kSectorBytes = 512;

// The faults from now on. Rates are per million calls.
struct FileFaults {
  uint64_t write_errors = 0;          // a part may have been written
  uint64_t sync_errors = 0;           // some pages are lost: readable until a power loss, and considered clean
  uint64_t read_errors = 0;           // including open(), size() and list()
  uint64_t misdirected_reads = 0;     // another page's bytes
  bool lying_syncs = false;           // acknowledged, but nothing reaches the disk
  std::optional<uint64_t> bytes_max;  // all files together; growth beyond is refused

  friend bool operator==(const FileFaults&, const FileFaults&) = default;
};

class SimFileSystem final : public FileSystem {
 public:
  explicit SimFileSystem(Random random) : random_(random) {}

  absl::StatusOr<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override;
  absl::Status rename(std::string_view from, std::string_view to) override;
  absl::Status remove(std::string_view name) override;
  absl::Status sync_dir() override;
  absl::StatusOr<std::vector<std::string>> list() override;
  absl::StatusOr<uint64_t> free_bytes() override;

  void lose_power();  // every File must be closed

  void set_faults(const FileFaults& faults) { faults_ = faults; }
  const FileFaults& faults() const { return faults_; }
  uint64_t bytes() const;  // of all files, as quotas count them
  // Whether something was acknowledged that the next power loss removes.
  bool holds_ghosts() const;

  size_t pages(std::string_view name) const;
  bool in_use(std::string_view name, size_t page) const;  // on disk it is more than zeros

  // Rot: flips bits of a page of this file, or overwrites a sector, on disk. False: there is no such page, or it is about to
  // be overwritten.
  bool rot(std::string_view name, size_t page);
  void flip(std::string_view name, uint64_t offset);  // one bit of this byte
  // One page of the next synced write goes to this place instead, overwriting what is there.
  void misdirect_next_write(std::string_view name, size_t page) { misdirected_to_ = {std::string(name), page}; }

  // From the last of this many changes on every call fails, as if the power had gone; nullopt: calls work
  // again.
  void die_after(std::optional<uint64_t> calls) { calls_left_ = calls; }
  bool died() const { return calls_left_ == 0u; }

  // Errors that come once, or a few times in a row. They hit calls that name a file for which `of` is true, or that read,
  // change or sync its bytes: `after` of them succeed, then `count` fail. No call of the directory as a whole is hit.
  struct SomeErrors {
    bool (*of)(std::string_view name) = nullptr;
    uint64_t after = 0;
    uint64_t count = 0;
  };
  void fail_some(const SomeErrors& errors) { some_errors_ = errors; }

  // The whole directory as programs see it, to be restored here or elsewhere between two processes.
  using Image = std::map<std::string, std::string>;
  Image image() const;
  void restore(const Image& image);

 private:
  class OpenFile;

  // Bytes up to the last one that is not zero; the rest of a page is zeros.
  struct Page {
    std::string disk;
    std::string cache;       // what programs read, if `apart`
    bool apart = false;      // cache and disk differ
    bool unwritten = false;  // apart, and the next sync writes it; apart but not unwritten: a ghost
  };
  struct Inode {
    std::vector<Page> pages;
    std::vector<size_t> unwritten;
    uint64_t size = 0;
    uint64_t disk_size = 0;
  };
  // A file lives as long as it has a name, a name on disk whose removal is unsynced, or a process that has it open.
  using InodeRef = std::shared_ptr<Inode>;
  using Names = std::map<std::string, InodeRef, std::less<>>;
  struct NameChange {
    std::string from;  // empty: a new file
    std::string to;    // empty: removed
    InodeRef inode;
  };
  struct Place {
    std::string name;
    size_t page = 0;
  };

  enum class Call : uint8_t { Read, Change, Sync };
  absl::Status strike(Call call, const char* what, std::string_view name);
  absl::Status strike(Call call, const char* what, const Inode& inode);
  bool one_of_some(std::string_view name);
  bool lucky(uint64_t per_million) { return per_million != 0 && random_.below(1'000'000) < per_million; }
  static void apply(Names& names, const NameChange& change);
  void change_name(NameChange change);
  absl::Status grow(Inode& inode, uint64_t size);
  void write_page(Inode& inode, size_t number, size_t offset, std::string_view bytes);
  absl::Status write(Inode& inode, uint64_t offset, std::string_view bytes);
  std::string read(const Inode& inode, uint64_t offset, size_t length) const;
  absl::Status sync(Inode& inode);
  void misdirect(Inode& inode);
  void lose_power(Inode& inode);
  void tear(Page& page);

  Random random_;
  FileFaults faults_;
  SomeErrors some_errors_;
  Place misdirected_to_;
  std::optional<uint64_t> calls_left_;
  Names names_;
  Names disk_names_;
  std::vector<NameChange> name_changes_;  // since the last sync of the directory
};

}  // namespace coordkit::sim
