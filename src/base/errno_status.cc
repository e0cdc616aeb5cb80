#include "base/errno_status.h"

#include <cerrno>
#include <cstring>

#include "coordkit/error.h"

namespace coordkit {

absl::Status errno_status(int error, const std::string& what) {
  const std::string text = what + ": " + std::strerror(error);
  switch (error) {
    case ENOSPC: return make_error(Reason::NoSpace, text + " (free some space on this disk)");
    case EDQUOT: return make_error(Reason::NoSpace, text + " (free some space of this user's there, or raise the quota)");
    case EFBIG: return make_error(Reason::LimitExceeded, text + " (raise the limit of a file's size, ulimit -f)");
    case EMFILE:
    case ENFILE: return make_error(Reason::LimitExceeded, text + " (raise the limit of open files)");
    case ENOENT: return make_error(Reason::NotFound, text);
    case ENOTDIR: return make_error(Reason::ForeignData, text + " (a file is in the way; choose another path)");
    case ENOMEM: return make_error(Reason::LimitExceeded, text + " (give the process more memory or address space, ulimit -v)");
    case ENOSYS:
    case EOPNOTSUPP: return make_error(Reason::Unsupported, text + " (this kernel or this file system cannot do it)");
    case ENOLCK: return make_error(Reason::Unsupported, text + " (this file system has no locks; choose another one)");
    case EPERM:
      return make_error(Reason::PermissionDenied,
                        text + " (a policy forbids it: a seccomp filter for instance, or the mode of a file)");
    case EACCES:
    case EROFS: return make_error(Reason::PermissionDenied, text + " (the process needs to read and write there)");
    default: return make_error(Reason::StorageFailed, text);
  }
}

}  // namespace coordkit
