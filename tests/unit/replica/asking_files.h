// Files that are what they are, but each sync of one asks a function first, which may wait, or refuse.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coordkit/ports/file_system.h"
#include "coordkit/ports/parts.h"
#include "coordkit/storage/data_directory.h"
#include "coordkit/storage/posix_files.h"

namespace coordkit::testkit {

using BeforeSync = std::function<absl::Status()>;  // on whichever thread syncs

class AskingFiles final : public FileSystem {
 public:
  AskingFiles(std::unique_ptr<FileSystem> files, BeforeSync ask) : files_(std::move(files)), ask_(std::move(ask)) {}
  absl::StatusOr<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) override {
    absl::StatusOr<std::unique_ptr<File>> file = files_->open(name, mode);
    if (!file.ok()) return file;
    return std::make_unique<Asking>(*std::move(file), ask_);
  }
  absl::Status rename(std::string_view from, std::string_view to) override { return files_->rename(from, to); }
  absl::Status remove(std::string_view name) override { return files_->remove(name); }
  absl::Status sync_dir() override { return files_->sync_dir(); }
  absl::StatusOr<std::vector<std::string>> list() override { return files_->list(); }
  absl::StatusOr<uint64_t> free_bytes() override { return files_->free_bytes(); }

 private:
  class Asking final : public File {
   public:
    Asking(std::unique_ptr<File> file, BeforeSync ask) : file_(std::move(file)), ask_(std::move(ask)) {}
    absl::Status pwrite(uint64_t offset, std::string_view bytes) override { return file_->pwrite(offset, bytes); }
    absl::StatusOr<std::string> pread(uint64_t offset, size_t length) const override { return file_->pread(offset, length); }
    absl::Status sync() override {
      const absl::Status may = ask_();
      return may.ok() ? file_->sync() : may;
    }
    absl::StatusOr<uint64_t> size() const override { return file_->size(); }

   private:
    const std::unique_ptr<File> file_;
    const BeforeSync ask_;
  };
  const std::unique_ptr<FileSystem> files_;
  const BeforeSync ask_;
};

// The files of a replica's log in its directory, for Parts::log_files.
inline PartFactory<FileSystem> log_files_that_ask(BeforeSync ask) {
  return [ask = std::move(ask)](const PartContext& part) -> absl::StatusOr<std::unique_ptr<FileSystem>> {
    absl::StatusOr<std::unique_ptr<FileSystem>> files = posix_files(part.directory()->log_path());
    if (!files.ok()) return files;
    return std::make_unique<AskingFiles>(*std::move(files), ask);
  };
}

}  // namespace coordkit::testkit
