#include "mvcc/version.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

namespace coordkit::mvcc {
namespace {

constexpr size_t kNameAt = offsetof(Key, size) + sizeof(Key::size);  // a short name fits into what padding leaves

}  // namespace

Version* Version::make(ChangeId id, const Stamp& stamp, std::string_view value) {
  void* block = ::operator new(sizeof(Version) + value.size());
  auto* version =
      new (block) Version{.mod = id.revision, .stamp = stamp, .sub = id.sub, .size = static_cast<uint32_t>(value.size())};
  if (!value.empty()) std::memcpy(reinterpret_cast<char*>(version + 1), value.data(), value.size());
  return version;
}

void Version::free(Version* version) { ::operator delete(version); }

size_t Version::footprint(const Version& version) { return sizeof(Version) + version.size; }

KeyPointer Key::make(std::string_view name) {
  void* block = ::operator new(std::max(sizeof(Key), kNameAt + name.size()));
  auto* key = new (block) Key{.size = static_cast<uint32_t>(name.size())};
  if (!name.empty()) std::memcpy(static_cast<char*>(block) + kNameAt, name.data(), name.size());
  return KeyPointer(key);
}

void Key::Free::operator()(Key* key) const {
  for (Version* version = key->newest; version != nullptr;) {
    Version* before = version->before;
    Version::free(version);
    version = before;
  }
  ::operator delete(key);
}

}  // namespace coordkit::mvcc
