#include "bench/skeleton/disk.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

namespace coordkit::bench::skeleton {
namespace {

constexpr size_t kFileBytes = 32 << 20;

void write_at(int file, const void* bytes, size_t count, size_t offset) {
  if (pwrite(file, bytes, count, static_cast<off_t>(offset)) == static_cast<ssize_t>(count)) return;
  throw std::system_error(errno, std::generic_category(), "pwrite");
}

}  // namespace

Disk::Disk(const std::string& path) : file_(open(path.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0644)) {
  if (file_.get() < 0) throw std::system_error(errno, std::generic_category(), path);
  const std::vector<char> zeros(1 << 20);
  for (size_t offset = 0; offset < kFileBytes; offset += zeros.size()) {
    write_at(file_.get(), zeros.data(), zeros.size(), offset);
  }
  if (fsync(file_.get()) != 0) throw std::system_error(errno, std::generic_category(), path);
}

void Disk::append(std::span<const Record> records) {
  if (end_ + records.size_bytes() > kFileBytes) end_ = 0;
  write_at(file_.get(), records.data(), records.size_bytes(), end_);
  end_ += records.size_bytes();
  if (fdatasync(file_.get()) != 0) throw std::system_error(errno, std::generic_category(), "fdatasync");
}

}  // namespace coordkit::bench::skeleton
