// A local socket through which an operator inspects and controls a running replica (coordctl --socket). A file that only
// its owner may open; the client must run as the same user, or as root.
//
// A visitor sends lines of cells (base/cells.h): a command and its words (admin_commands.h). Each is answered with lines
//
//   field NAME CELL...   any number
//   columns NAME...      once, before rows
//   row CELL...          any number
//   note SENTENCE        any number, for a human reader
//   ok                   or
//   error CODE SENTENCE  the name of the status code, and its message
//
// Threads: one that accepts and one for each visitor, at most kVisitorsMax. One more takes the place of the visitor that has
// been silent for longest: it has sent no whole command since its last answer, or, if there is none such, does not read its
// answer. If no visitor is silent, the new one is refused. Nothing a visitor sends or omits stops the replica. Lifetime: keeps
// the host, which ends it at its close, once its calls are answered.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/descriptor.h"
#include "base/thread.h"
#include "replica/operate/admin_commands.h"
#include "replica/operate/local_stream.h"
#include "replica/shell/replica_calls.h"

namespace coordkit {

class AdminSocket {
 public:
  static constexpr size_t kVisitorsMax = 8;

  // kFailedPrecondition: another process listens there (InUse), or something that is not a socket has this name (ForeignData);
  // else the file system's error. A socket left behind by a dead process is replaced.
  static absl::StatusOr<std::unique_ptr<AdminSocket>> open(std::shared_ptr<Host> host, ReplicaCalls& calls,
                                                           AdminIdentity identity, const std::string& path);
  ~AdminSocket();
  AdminSocket(const AdminSocket&) = delete;
  AdminSocket& operator=(const AdminSocket&) = delete;

 private:
  struct Visitor {
    LocalStream stream;
    Thread thread;
    std::atomic<bool> over{false};
    // Guarded by mutex_:
    bool answered = false;      // a command of it is carried out
    bool sent_away = false;     // to make room for another one
    uint64_t silent_since = 0;  // by silences_
  };
  AdminSocket(std::shared_ptr<Host> host, ReplicaCalls& calls, AdminIdentity identity, const std::string& path,
              Descriptor listener);
  void accept_visitors();
  void admit(LocalStream stream);
  bool make_place();
  void serve(Visitor& visitor);
  bool begin_answer(Visitor& visitor);
  void end_answer(Visitor& visitor);
  bool answer(const LocalStream& visitor, const std::vector<std::string>& words);

  Replica replica_;  // of its own: the one that was opened may be destroyed before the host is closed
  const AdminIdentity identity_;
  const std::string path_;  // absolute
  const Descriptor listener_;
  std::mutex mutex_;
  std::list<Visitor> visitors_;
  uint64_t silences_ = 0;
  bool stopping_ = false;
  Thread thread_;  // last: it uses the other members
};

}  // namespace coordkit
