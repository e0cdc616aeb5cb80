#include "mvcc/version.h"

#include <cstring>
#include <new>

namespace coordkit::mvcc {

Version* Version::make(ChangeId id, const Stamp& stamp, std::string_view value) {
  void* block = ::operator new(sizeof(Version) + value.size());
  auto* version =
      new (block) Version{.mod = id.revision, .stamp = stamp, .sub = id.sub, .size = static_cast<uint32_t>(value.size())};
  if (!value.empty()) std::memcpy(reinterpret_cast<char*>(version + 1), value.data(), value.size());
  return version;
}

void Version::free(Version* version) { ::operator delete(version); }

size_t Version::footprint(const Version& version) { return sizeof(Version) + version.size; }

Key::~Key() {
  for (Version* version = newest; version != nullptr;) {
    Version* before = version->before;
    Version::free(version);
    version = before;
  }
}

}  // namespace coordkit::mvcc
