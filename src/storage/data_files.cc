#include "storage/data_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <vector>

#include "coordkit/error.h"
#include "storage/absolute_path.h"
#include "storage/identity.h"
#include "storage/posix_file_system.h"

namespace coordkit::storage {
namespace {

constexpr std::array<std::string_view, 6> kOurNames = {"identity", "identity.new", kHasLog, kReserve, "log", "state"};

}  // namespace

absl::Status refuse_foreign_data_files(FileSystem& files, const std::string& path) {
  absl::StatusOr<std::vector<std::string>> names = files.list();
  if (!names.ok()) return names.status();
  const bool ours = std::find(names->begin(), names->end(), "identity") != names->end();
  for (const std::string& name : *names) {
    if (std::find(kOurNames.begin(), kOurNames.end(), name) != kOurNames.end()) continue;
    return make_error(Reason::ForeignData, std::string("the data directory ")
                                               .append(path)
                                               .append(" holds '")
                                               .append(name)
                                               .append("', which is not coordkit's; ")
                                               .append(ours ? "move it away" : "choose an empty or a new directory"));
  }
  const bool data = std::find(names->begin(), names->end(), "log") != names->end() ||
                    std::find(names->begin(), names->end(), "state") != names->end();
  if (data && !ours) {
    return make_error(Reason::Corrupt,
                      "the data directory " + path +
                          " has data, and its file `identity` is missing: restore it from a copy, or replace this member");
  }
  return absl::OkStatus();
}

absl::Status refuse_in_data_directory(const std::string& path) {
  const std::string parent = std::filesystem::path(absolute_path(path)).parent_path();
  for (const std::string& directory : {parent, parent + "/.."}) {
    const absl::StatusOr<std::unique_ptr<PosixFileSystem>> files = PosixFileSystem::open(directory);
    if (!files.ok() || !load_identity(**files).ok()) continue;
    return make_error(
        Reason::InvalidArgument,
        path + " lies in a replica's data directory, which would be refused at the next start: choose another place");
  }
  return absl::OkStatus();
}

}  // namespace coordkit::storage
