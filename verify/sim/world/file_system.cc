#include "sim/world/file_system.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace coordkit::sim {
namespace {

// Bytes up to the last one that is not zero, in steps of a word.
std::string_view without_zeros(std::string_view bytes) {
  while (bytes.size() >= 64) {
    uint64_t words[8];
    std::memcpy(words, bytes.data() + bytes.size() - sizeof words, sizeof words);
    if ((words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] | words[7]) != 0) break;
    bytes.remove_suffix(sizeof words);
  }
  while (!bytes.empty() && bytes.back() == '\0') bytes.remove_suffix(1);
  return bytes;
}

void shorten(std::string& page) { page.resize(without_zeros(page).size()); }

size_t pages_of(uint64_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes; }

}  // namespace

class SimFileSystem::OpenFile final : public File {
 public:
  OpenFile(SimFileSystem& files, InodeRef inode, OpenMode mode) : files_(files), inode_(std::move(inode)), mode_(mode) {}

  absl::Status pwrite(uint64_t offset, std::string_view bytes) override {
    if (mode_ == OpenMode::Read) return absl::InternalError("write to a file opened for reading");
    return files_.write(*inode_, offset, bytes);
  }
  absl::StatusOr<std::string> pread(uint64_t offset, size_t length) const override {
    if (absl::Status status = files_.strike(Call::Read, "pread", *inode_); !status.ok()) return status;
    if (files_.lucky(files_.faults_.misdirected_reads)) offset += kPageBytes;
    return files_.read(*inode_, offset, length);
  }
  absl::Status sync() override { return files_.sync(*inode_); }
  absl::StatusOr<uint64_t> size() const override {
    if (absl::Status status = files_.strike(Call::Read, "size", *inode_); !status.ok()) return status;
    return inode_->size;
  }

 private:
  SimFileSystem& files_;
  const InodeRef inode_;
  const OpenMode mode_;
};

absl::Status SimFileSystem::strike(Call call, const char* what, const Inode& inode) {
  std::string_view named;
  if (some_errors_.count != 0) {
    const auto found = std::ranges::find_if(names_, [&inode](const auto& file) { return file.second.get() == &inode; });
    if (found != names_.end()) named = found->first;
  }
  return strike(call, what, named);
}

bool SimFileSystem::one_of_some(std::string_view name) {
  if (some_errors_.count == 0 || name.empty() || !some_errors_.of(name)) return false;
  const bool fails = some_errors_.after == 0;
  --(fails ? some_errors_.count : some_errors_.after);
  return fails;
}

absl::Status SimFileSystem::strike(Call call, const char* what, std::string_view name) {
  if (calls_left_ && *calls_left_ != 0 && call != Call::Read) --*calls_left_;
  if (died()) return absl::UnavailableError("the power is gone");
  const uint64_t rate = call == Call::Read     ? faults_.read_errors
                        : call == Call::Change ? faults_.write_errors
                                               : faults_.sync_errors;
  return one_of_some(name) || lucky(rate) ? absl::DataLossError(std::string(what) + ": input/output error") : absl::OkStatus();
}

// ---- names

absl::StatusOr<std::unique_ptr<File>> SimFileSystem::open(std::string_view name, OpenMode mode) {
  if (absl::Status status = strike(Call::Read, "open", name); !status.ok()) return status;
  const auto found = names_.find(name);
  if (mode != OpenMode::CreateNew) {
    if (found == names_.end()) return absl::NotFoundError(std::string(name));
    return std::make_unique<OpenFile>(*this, found->second, mode);
  }
  if (found != names_.end()) return absl::DataLossError("file exists: " + std::string(name));
  auto inode = std::make_shared<Inode>();
  change_name({.from = {}, .to = std::string(name), .inode = inode});
  return std::make_unique<OpenFile>(*this, std::move(inode), mode);
}

absl::Status SimFileSystem::rename(std::string_view from, std::string_view to) {
  if (absl::Status status = strike(Call::Change, "rename", to); !status.ok()) return status;
  const auto found = names_.find(from);
  if (found == names_.end()) return absl::NotFoundError(std::string(from));
  change_name({std::string(from), std::string(to), found->second});
  return absl::OkStatus();
}

absl::Status SimFileSystem::remove(std::string_view name) {
  if (absl::Status status = strike(Call::Change, "remove", name); !status.ok()) return status;
  if (!names_.contains(name)) return absl::NotFoundError(std::string(name));
  change_name({.from = std::string(name), .to = {}, .inode = nullptr});
  return absl::OkStatus();
}

void SimFileSystem::apply(Names& names, const NameChange& change) {
  if (!change.from.empty()) names.erase(change.from);
  if (!change.to.empty()) names[change.to] = change.inode;
}

void SimFileSystem::change_name(NameChange change) {
  apply(names_, change);
  name_changes_.push_back(std::move(change));
}

absl::Status SimFileSystem::sync_dir() {
  if (absl::Status status = strike(Call::Sync, "sync of the directory", ""); !status.ok()) return status;
  if (faults_.lying_syncs) return absl::OkStatus();
  for (const NameChange& change : name_changes_) apply(disk_names_, change);
  name_changes_.clear();
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> SimFileSystem::list() {
  if (absl::Status status = strike(Call::Read, "list", ""); !status.ok()) return status;
  std::vector<std::string> names;
  for (const auto& [name, inode] : names_) names.push_back(name);
  return names;
}

uint64_t SimFileSystem::bytes() const {
  uint64_t sum = 0;
  for (const auto& [name, inode] : names_) sum += inode->size;
  return sum;
}

absl::StatusOr<uint64_t> SimFileSystem::free_bytes() {
  const uint64_t most = faults_.bytes_max.value_or(uint64_t{1} << 40);
  return most - std::min(most, bytes());
}

// ---- bytes

absl::Status SimFileSystem::grow(Inode& inode, uint64_t size) {
  if (size <= inode.size) return absl::OkStatus();
  if (faults_.bytes_max && bytes() + size - inode.size > *faults_.bytes_max) {
    return absl::ResourceExhaustedError("no space left on device");
  }
  inode.size = size;
  inode.pages.resize(pages_of(size));
  return absl::OkStatus();
}

void SimFileSystem::write_page(Inode& inode, size_t number, size_t offset, std::string_view bytes) {
  Page& page = inode.pages[number];
  if (offset == 0 && bytes.size() == kPageBytes) {
    bytes = without_zeros(bytes);
    if (!page.apart && page.disk.empty() && bytes.empty()) return;  // zeros over zeros
    page.cache.assign(bytes);
  } else {
    if (!page.apart) page.cache = page.disk;
    page.cache.resize(kPageBytes);
    page.cache.replace(offset, bytes.size(), bytes);
    shorten(page.cache);
  }
  page.apart = true;
  if (!std::exchange(page.unwritten, true)) inode.unwritten.push_back(number);
}

absl::Status SimFileSystem::write(Inode& inode, uint64_t offset, std::string_view bytes) {
  const absl::Status status = strike(Call::Change, "pwrite", inode);
  if (!status.ok()) bytes = bytes.substr(0, random_.below(bytes.size() / kSectorBytes + 1) * kSectorBytes);
  if (absl::Status grown = grow(inode, offset + bytes.size()); !grown.ok()) return grown;
  while (!bytes.empty()) {
    const size_t within = offset % kPageBytes;
    const size_t piece = std::min(kPageBytes - within, bytes.size());
    write_page(inode, offset / kPageBytes, within, bytes.substr(0, piece));
    bytes.remove_prefix(piece);
    offset += piece;
  }
  return status;
}

std::string SimFileSystem::read(const Inode& inode, uint64_t offset, size_t length) const {
  if (offset >= inode.size) return {};
  std::string bytes(std::min<uint64_t>(length, inode.size - offset), '\0');
  for (size_t at = 0; at < bytes.size();) {
    const Page& page = inode.pages[(offset + at) / kPageBytes];
    const std::string_view content = page.apart ? page.cache : page.disk;
    const size_t within = (offset + at) % kPageBytes;
    const size_t piece = std::min(kPageBytes - within, bytes.size() - at);
    if (within < content.size()) content.copy(bytes.data() + at, piece, within);
    at += piece;
  }
  return bytes;
}

absl::Status SimFileSystem::sync(Inode& inode) {
  const absl::Status status = strike(Call::Sync, "fdatasync", inode);
  if (!misdirected_to_.name.empty() && status.ok()) misdirect(inode);
  for (const size_t number : inode.unwritten) {
    Page& page = inode.pages[number];
    if (!std::exchange(page.unwritten, false)) continue;
    if (faults_.lying_syncs || (!status.ok() && random_.chance(0.5))) continue;  // clean from now on, and a ghost
    page.disk.swap(page.cache);
    page.cache.clear();
    page.apart = false;
  }
  inode.unwritten.clear();
  if (status.ok() && !faults_.lying_syncs) inode.disk_size = inode.size;
  return status;
}

// The disk wrote one page to the wrong place. The cache still shows the intended contents.
void SimFileSystem::misdirect(Inode& inode) {
  const auto target = names_.find(misdirected_to_.name);
  const size_t at = misdirected_to_.page;
  if (inode.unwritten.empty()) return;
  Page& meant = inode.pages[inode.unwritten[random_.below(inode.unwritten.size())]];
  if (!meant.unwritten) return;
  misdirected_to_ = {};
  meant.unwritten = false;
  if (target == names_.end() || at >= target->second->pages.size()) return;
  Page& hit = target->second->pages[at];
  if (&hit != &meant) hit.disk = meant.cache;
}

// ---- faults of the medium

size_t SimFileSystem::pages(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? 0 : found->second->pages.size();
}

bool SimFileSystem::in_use(std::string_view name, size_t page) const {
  const auto found = names_.find(name);
  return found != names_.end() && page < found->second->pages.size() && !found->second->pages[page].disk.empty();
}

bool SimFileSystem::rot(std::string_view name, size_t page) {
  const auto found = names_.find(name);
  if (found == names_.end() || page >= found->second->pages.size() || found->second->pages[page].apart) return false;
  std::string& bytes = found->second->pages[page].disk;
  const size_t used = bytes.empty() || random_.chance(0.1) ? kPageBytes : bytes.size();  // zeros are rarely informative
  bytes.resize(kPageBytes);
  if (random_.chance(0.7)) {
    for (uint64_t flips = random_.between(1, 3); flips > 0; --flips) {
      bytes[random_.below(used)] ^= static_cast<char>(1 << random_.below(8));
    }
  } else {
    const size_t sector = random_.below(used) / kSectorBytes * kSectorBytes;
    for (size_t i = 0; i < kSectorBytes; ++i) bytes[sector + i] = static_cast<char>(random_());
  }
  shorten(bytes);
  return true;
}

void SimFileSystem::flip(std::string_view name, uint64_t offset) {
  const auto found = names_.find(name);
  if (found == names_.end() || offset >= found->second->size) return;
  Page& page = found->second->pages[offset / kPageBytes];
  std::string& bytes = page.apart ? page.cache : page.disk;
  bytes.resize(kPageBytes);
  bytes[offset % kPageBytes] ^= 1;
  shorten(bytes);
}

bool SimFileSystem::holds_ghosts() const {
  if (!name_changes_.empty()) return true;
  const auto ghost = [](const Page& page) { return page.apart && !page.unwritten; };
  return std::any_of(names_.begin(), names_.end(),
                     [&](const auto& file) { return std::ranges::any_of(file.second->pages, ghost); });
}

// Each sector of a page either reached the disk or did not; often all did, or none.
void SimFileSystem::tear(Page& page) {
  const uint64_t way = random_.below(4);
  if (way == 0) return;
  if (way == 1) {
    page.disk.swap(page.cache);
    return;
  }
  page.disk.resize(kPageBytes);
  page.cache.resize(kPageBytes);
  for (size_t at = 0; at < kPageBytes; at += kSectorBytes) {
    if (random_.chance(0.5)) page.disk.replace(at, kSectorBytes, page.cache, at, kSectorBytes);
  }
  shorten(page.disk);
}

void SimFileSystem::lose_power(Inode& inode) {
  for (Page& page : inode.pages) {
    if (!page.apart) continue;
    if (page.unwritten) tear(page);
    page.cache.clear();
    page.apart = page.unwritten = false;
  }
  inode.unwritten.clear();
  if (random_.chance(0.5)) {
    inode.disk_size = inode.size;  // the new length reached the disk, whatever happened to the bytes
    return;
  }
  inode.size = inode.disk_size;
  inode.pages.resize(pages_of(inode.size));
  if (const size_t within = inode.size % kPageBytes; within != 0) {
    std::string& last = inode.pages.back().disk;
    last.resize(std::min(last.size(), within));
  }
}

void SimFileSystem::lose_power() {
  const bool in_order = random_.chance(0.5);  // journalled
  const size_t end = random_.below(name_changes_.size() + 1);
  for (size_t i = 0; i < name_changes_.size(); ++i) {
    if (in_order ? i < end : random_.chance(0.5)) apply(disk_names_, name_changes_[i]);
  }
  name_changes_.clear();
  names_ = disk_names_;
  for (auto& [name, inode] : names_) lose_power(*inode);
}

SimFileSystem::Image SimFileSystem::image() const {
  Image image;
  for (const auto& [name, inode] : names_) image[name] = read(*inode, 0, inode->size);
  return image;
}

void SimFileSystem::restore(const Image& image) {
  names_.clear();
  name_changes_.clear();
  for (const auto& [name, bytes] : image) {
    auto inode = std::make_shared<Inode>();
    inode->size = inode->disk_size = bytes.size();
    for (size_t at = 0; at < bytes.size(); at += kPageBytes) {
      inode->pages.push_back({.disk = std::string(without_zeros(std::string_view(bytes).substr(at, kPageBytes)))});
    }
    names_[name] = std::move(inode);
  }
  disk_names_ = names_;
}

}  // namespace coordkit::sim
