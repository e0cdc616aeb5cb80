// A copy of a data directory, in a new folder below another one, for inspecting a directory that a replica has open. Only this
// user can read it; removed with this object.
//
// A replica writes while its files are copied one by one, so the copy may mix several moments: a reader sees that as damage and
// makes another copy. Changes nothing in the directory and takes no lock.
#pragma once

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace coordkit::storage {

class DirectoryCopy {
 public:
  // The log last, so that it does not end before the checkpoint. kNotFound, kPermissionDenied, kResourceExhausted (no room).
  static absl::StatusOr<DirectoryCopy> make(const std::string& directory, const std::string& below);

  DirectoryCopy(DirectoryCopy&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  DirectoryCopy& operator=(DirectoryCopy&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~DirectoryCopy();

  const std::string& path() const { return path_; }

 private:
  explicit DirectoryCopy(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace coordkit::storage
