#include "tests/unit/log/recording_fs.h"

#include <algorithm>
#include <optional>

#include "log/segment.h"

namespace coordkit::testkit {
namespace {

void write_at(std::string& file, uint64_t offset, std::string_view bytes) {
  if (file.size() < offset + bytes.size()) file.resize(offset + bytes.size());
  file.replace(offset, bytes.size(), bytes);
}

void apply_name(Image& image, const Change& change) {
  switch (change.kind) {
    case Change::Kind::Create: image.names[change.name] = change.file; break;
    case Change::Kind::Remove: image.names.erase(change.name); break;
    case Change::Kind::Rename:
      image.names.erase(change.name);
      image.names[change.to] = change.file;
      break;
    default: break;
  }
}

bool is_name(const Change& change) {
  return change.kind == Change::Kind::Create || change.kind == Change::Kind::Remove || change.kind == Change::Kind::Rename;
}

}  // namespace

class RecordingFs::RecordingFile final : public File {
 public:
  RecordingFile(RecordingFs& disk, FileId file, OpenMode mode) : disk_(disk), file_(file), mode_(mode) {}

  absl::Status pwrite(uint64_t offset, std::string_view bytes) override {
    if (absl::Status status = disk_.enter("pwrite", disk_.is_spare(file_)); !status.ok()) return status;
    if (mode_ == OpenMode::Read) return absl::InternalError("write to a file opened for reading");
    const uint64_t grown = offset + bytes.size();
    const uint64_t size = disk_.now_.files[file_].size();
    if (grown > size && disk_.used() + grown - size > disk_.space_) return absl::ResourceExhaustedError("no space");
    disk_.record({.kind = Change::Kind::Write, .file = file_, .offset = offset, .bytes = std::string(bytes)});
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> pread(uint64_t offset, size_t length) const override {
    if (absl::Status status = disk_.enter("pread", disk_.is_spare(file_)); !status.ok()) return status;
    const std::string& bytes = disk_.now_.files[file_];
    return offset >= bytes.size() ? std::string() : bytes.substr(offset, length);
  }
  absl::Status sync() override {
    if (absl::Status status = disk_.enter("sync", disk_.is_spare(file_)); !status.ok()) return status;
    disk_.record({.kind = Change::Kind::Sync, .file = file_});
    return absl::OkStatus();
  }
  absl::StatusOr<uint64_t> size() const override {
    if (absl::Status status = disk_.enter("size", disk_.is_spare(file_)); !status.ok()) return status;
    return disk_.now_.files[file_].size();
  }

 private:
  RecordingFs& disk_;
  const FileId file_;
  const OpenMode mode_;
};

bool RecordingFs::is_spare(std::string_view name) {
  const std::optional<log::ParsedName> parsed = log::parse_name(name);
  return parsed && parsed->use != log::FileUse::Segment;
}

bool RecordingFs::is_spare(FileId file) const {
  return std::ranges::any_of(now_.names, [&](const auto& name) { return name.second == file && is_spare(name.first); });
}

absl::Status RecordingFs::enter(std::string_view what, bool spare) {
  ++calls_;
  if (spare && ++spare_calls_ >= failing_spare_ && spare_calls_ - failing_spare_ < failing_spares_) return why_;
  if (what == failing_name_) {
    ++calls_failed_;
    return why_;
  }
  if (calls_ != failing_ && !all_fail_) return absl::OkStatus();
  failed_needless_ = spare || what == "remove";
  return absl::Status(why_.code(), std::string(what) + ": " + std::string(why_.message()));
}

void RecordingFs::record(Change change) {
  if (change.kind == Change::Kind::Write) {
    write_at(now_.files[change.file], change.offset, change.bytes);
  } else {
    apply_name(now_, change);
  }
  changes_.push_back(std::move(change));
}

uint64_t RecordingFs::used() const {
  uint64_t bytes = 0;
  for (const auto& [name, file] : now_.names) bytes += now_.files.at(file).size();
  return bytes;
}

absl::StatusOr<std::unique_ptr<File>> RecordingFs::open(std::string_view name, OpenMode mode) {
  if (absl::Status status = enter("open", is_spare(name)); !status.ok()) return status;
  const auto found = now_.names.find(std::string(name));
  if (mode == OpenMode::CreateNew) {
    if (found != now_.names.end()) return absl::DataLossError("file exists: " + std::string(name));
    const FileId file = next_file_++;
    now_.files[file];
    record({.kind = Change::Kind::Create, .file = file, .name = std::string(name)});
    return std::make_unique<RecordingFile>(*this, file, mode);
  }
  if (found == now_.names.end()) return absl::NotFoundError(std::string(name));
  return std::make_unique<RecordingFile>(*this, found->second, mode);
}

absl::Status RecordingFs::rename(std::string_view from, std::string_view to) {
  if (absl::Status status = enter("rename", is_spare(to)); !status.ok()) return status;
  const auto found = now_.names.find(std::string(from));
  if (found == now_.names.end()) return absl::NotFoundError(std::string(from));
  record({.kind = Change::Kind::Rename, .file = found->second, .name = std::string(from), .to = std::string(to)});
  return absl::OkStatus();
}

absl::Status RecordingFs::remove(std::string_view name) {
  if (absl::Status status = enter("remove", is_spare(name)); !status.ok()) return status;
  if (!now_.names.contains(std::string(name))) return absl::NotFoundError(std::string(name));
  record({.kind = Change::Kind::Remove, .name = std::string(name)});
  return absl::OkStatus();
}

absl::Status RecordingFs::sync_dir() {
  if (absl::Status status = enter("sync_dir"); !status.ok()) return status;
  record({.kind = Change::Kind::SyncDirectory});
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> RecordingFs::list() {
  if (absl::Status status = enter("list"); !status.ok()) return status;
  std::vector<std::string> names;
  for (const auto& [name, file] : now_.names) names.push_back(name);
  return names;
}

// A name change is durable after a later sync of the directory, a write after a later sync of its file. Name changes
// that keep their order imply the earlier ones.
Image RecordingFs::crash(size_t count, const std::function<bool()>& survives, Pieces of) const {
  size_t names_synced = 0;
  std::map<FileId, size_t> file_synced;
  for (size_t i = 0; i < count; ++i) {
    if (changes_[i].kind == Change::Kind::SyncDirectory) names_synced = i;
    if (changes_[i].kind == Change::Kind::Sync) file_synced[changes_[i].file] = i;
  }
  Image image = start_;
  bool names_go_on = true;
  for (size_t i = 0; i < count; ++i) {
    const Change& change = changes_[i];
    if (is_name(change)) {
      names_go_on = i < names_synced || ((names_go_on || !of.names_in_order) && survives());
      if (names_go_on) apply_name(image, change);
      if (change.kind == Change::Kind::Create) image.files[change.file];
    } else if (change.kind == Change::Kind::Write) {
      std::string& file = image.files[change.file];
      const auto synced = file_synced.find(change.file);
      if (synced != file_synced.end() && i < synced->second) {
        write_at(file, change.offset, change.bytes);
        continue;
      }
      for (size_t at = 0; at < change.bytes.size();) {
        const size_t step = std::min(of.bytes - (change.offset + at) % of.bytes, change.bytes.size() - at);
        const std::string_view piece = std::string_view(change.bytes).substr(at, step);
        const bool same = change.offset + at + step <= file.size() && file.compare(change.offset + at, step, piece) == 0;
        if (!same && survives()) write_at(file, change.offset + at, piece);
        at += step;
      }
    }
  }
  return image;
}

size_t RecordingFs::undecided(size_t count, Pieces of) const {
  size_t pieces = 0;
  const auto survives = [&pieces] {
    ++pieces;
    return true;
  };
  crash(count, survives, of);
  return pieces;
}

void for_each_crash(const RecordingFs& disk, size_t exhaustive_max, size_t samples, uint64_t seed,
                    const std::function<void(size_t, const Image&)>& check, Pieces of) {
  Random random(seed);
  for (size_t count = 0; count <= disk.changes().size(); ++count) {
    const size_t pieces = disk.undecided(count, of);
    if (pieces <= exhaustive_max) {
      for (uint64_t subset = 0; subset < uint64_t{1} << pieces; ++subset) {
        uint64_t bits = subset;
        const auto survives = [&bits] {
          const bool bit = (bits & 1) != 0;
          bits >>= 1;
          return bit;
        };
        check(count, disk.crash(count, survives, of));
      }
      continue;
    }
    check(count, disk.crash(
                     count, [] { return false; }, of));
    check(count, disk.crash(
                     count, [] { return true; }, of));
    for (size_t i = 0; i < samples; ++i) {
      const double share = static_cast<double>(random.below(100)) / 100;
      check(count, disk.crash(
                       count, [&] { return random.chance(share); }, of));
    }
  }
}

}  // namespace coordkit::testkit
