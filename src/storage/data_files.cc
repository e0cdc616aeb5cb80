#include "storage/data_files.h"

#include <algorithm>
#include <array>
#include <vector>

#include "coordkit/error.h"

namespace coordkit::storage {
namespace {

constexpr std::array<std::string_view, 6> kOurNames = {"identity", "identity.new", kHasLog, kReserve, "log", "state"};

}  // namespace

absl::Status refuse_foreign_data_files(FileSystem& files, const std::string& path) {
  absl::StatusOr<std::vector<std::string>> names = files.list();
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (std::find(kOurNames.begin(), kOurNames.end(), name) != kOurNames.end()) continue;
    return make_error(Reason::ForeignData, std::string("the data directory ")
                                               .append(path)
                                               .append(" holds '")
                                               .append(name)
                                               .append("', which is not coordkit's; choose an empty or a new directory"));
  }
  const bool data = std::find(names->begin(), names->end(), "log") != names->end() ||
                    std::find(names->begin(), names->end(), "state") != names->end();
  if (data && std::find(names->begin(), names->end(), "identity") == names->end()) {
    return make_error(Reason::Corrupt, "the data directory " + path +
                                           " has data but its identity file is missing; restore it, or replace this member");
  }
  return absl::OkStatus();
}

}  // namespace coordkit::storage
