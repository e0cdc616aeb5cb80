#include "replica/operate/admin_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coordkit/error.h"
#include "service/objects/object_access.h"
#include "service/shell/host.h"
#include "storage/absolute_path.h"
#include "storage/data_files.h"
#include "storage/posix_file_system.h"
#include "storage/socket_file.h"

namespace coordkit {
namespace {

constexpr size_t kLineBytesMax = 64 << 10;
constexpr int kBacklog = 8;

// Removes what a dead process left; everything else stays.
absl::Status make_room(const std::string& path) {
  const absl::Status found = storage::find_socket(path);
  if (!found.ok()) return absl::IsNotFound(found) ? absl::OkStatus() : found;
  if (LocalStream::connect(path)) {
    return make_error(Reason::InUse,
                      "another process listens at the admin socket " + path + ": give each replica a path of its own");
  }
  if (errno != ECONNREFUSED && errno != ENOENT) {
    return errno_status(errno, "cannot tell whether another process listens at the admin socket " + path);
  }
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return errno_status(errno, "cannot remove the old admin socket " + path);
}

// The mode is set before the socket has a name, so that there is no moment in which others could open it.
absl::StatusOr<Descriptor> listen_at(const std::string& path) {
  if (absl::Status status = storage::refuse_in_data_directory(path); !status.ok()) return status;
  if (absl::Status status = make_room(path); !status.ok()) return status;
  Descriptor listener = open_socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (!listener) return errno_status(errno, "cannot make the admin socket " + path);
  const sockaddr_un address = local_address(path);
  if (absl::Status status = storage::keep_to_owner(listener); !status.ok()) return status;
  const bool listens = ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                       ::listen(listener.get(), kBacklog) == 0;
  if (!listens) return errno_status(errno, "cannot listen at the admin socket " + path);
  return listener;
}

bool may_enter(int socket) {
  ucred visitor = {};
  socklen_t size = sizeof visitor;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &visitor, &size) != 0) return false;
  return visitor.uid == 0 || visitor.uid == ::geteuid();
}

// False: it has not read what was sent to it, so that the next line would wait.
bool takes_more(const LocalStream& visitor) {
  pollfd look = {visitor.socket(), POLLOUT, 0};
  return ::poll(&look, 1, 0) > 0 && (look.revents & POLLOUT) != 0;
}

bool say(const LocalStream& visitor, const std::vector<std::string>& cells) { return visitor.say(cells); }

bool say_error(const LocalStream& visitor, const absl::Status& why) {
  return say(visitor, {"error", absl::StatusCodeToString(why.code()), std::string(why.message())});
}

class SocketReply final : public AdminReply {
 public:
  explicit SocketReply(const LocalStream& visitor) : visitor_(visitor) {}
  void field(std::string name, std::vector<std::string> cells) override {
    cells.insert(cells.begin(), std::move(name));
    tell("field", std::move(cells));
  }
  void columns(std::vector<std::string> names) override { tell("columns", std::move(names)); }
  void row(std::vector<std::string> cells) override { tell("row", std::move(cells)); }
  void note(std::string sentence) override { tell("note", {std::move(sentence)}); }
  bool gone() override {
    if (gone_) return true;
    pollfd look = {visitor_.socket(), POLLRDHUP, 0};
    gone_ = ::poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
    return gone_;
  }

 private:
  void tell(const char* kind, std::vector<std::string> cells) {
    cells.insert(cells.begin(), kind);
    if (!visitor_.say(cells)) gone_ = true;
  }

  const LocalStream& visitor_;
  bool gone_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<AdminSocket>> AdminSocket::open(std::shared_ptr<Host> host, ReplicaCalls& calls,
                                                               AdminIdentity identity, const std::string& path) {
  absl::StatusOr<Descriptor> listener = listen_at(path);
  if (!listener.ok()) return listener.status();
  return std::unique_ptr<AdminSocket>(new AdminSocket(std::move(host), calls, std::move(identity), path, *std::move(listener)));
}

AdminSocket::AdminSocket(std::shared_ptr<Host> host, ReplicaCalls& calls, AdminIdentity identity, const std::string& path,
                         Descriptor listener)
    : replica_(ReplicaAccess::replica(std::move(host), calls)),
      identity_(std::move(identity)),
      path_(storage::absolute_path(path)),
      listener_(std::move(listener)),
      thread_("coordkit/admin", [this] { accept_visitors(); }) {}

AdminSocket::~AdminSocket() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    for (const Visitor& visitor : visitors_) visitor.stream.shutdown();
  }
  ::shutdown(listener_.get(), SHUT_RDWR);  // ends poll()
  thread_.join();
  for (Visitor& visitor : visitors_) visitor.thread.join();
  ::unlink(path_.c_str());
}

void AdminSocket::accept_visitors() {
  while (true) {
    pollfd ready = {listener_.get(), POLLIN, 0};
    uninterrupted([&] { return ::poll(&ready, 1, -1); });
    Descriptor socket = accept_from(listener_.get());
    const int error = errno;
    {
      const std::scoped_lock lock(mutex_);
      if (stopping_) return;
    }
    if (socket) {
      try {  // the one place of the thread where what was not expected ends: this visitor is not let in
        admit(LocalStream(std::move(socket)));
      } catch (...) {
        continue;
      }
    } else if (error != ECONNABORTED && error != EAGAIN) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // out of descriptors, for instance: that passes
    }
  }
}

void AdminSocket::admit(LocalStream stream) {
  if (!may_enter(stream.socket())) {
    say_error(stream, make_error(Reason::PermissionDenied, "this replica belongs to another user"));
    return;
  }
  const std::scoped_lock lock(mutex_);
  visitors_.remove_if([](Visitor& visitor) {
    const bool over = visitor.over;  // read once: it may end at any moment
    if (over) visitor.thread.join();
    return over;
  });
  if (stopping_) return;
  if (!make_place()) {
    say_error(stream, make_error(Reason::TooManyRequests,
                                 "this replica answers " + std::to_string(kVisitorsMax) +
                                     " visitors at its admin socket, which is the most; end one of them, or try again"));
    return;
  }
  Visitor& visitor = visitors_.emplace_back();
  visitor.stream = std::move(stream);
  visitor.silent_since = ++silences_;
  try {
    visitor.thread = Thread("coordkit/admin", [this, &visitor] {
      try {  // the one place of the thread where what was not expected ends: this visitor's line is cut
        serve(visitor);
      } catch (...) {
      }
      visitor.stream.shutdown();
      visitor.over = true;
    });
  } catch (const std::exception&) {  // no thread, or no memory for it
    const LocalStream refused = std::move(visitor.stream);
    visitors_.pop_back();
    say_error(refused, make_error(Reason::LimitExceeded, "this process can start no thread more; try again"));
  }
}

// A visitor that was sent away ends soon, and does not count.
bool AdminSocket::make_place() {
  const auto counts = [](const Visitor& visitor) { return !visitor.sent_away; };
  if (static_cast<size_t>(std::ranges::count_if(visitors_, counts)) < kVisitorsMax) return true;
  Visitor* silent = nullptr;
  const auto comes_first = [](const Visitor& visitor) { return std::pair(visitor.answered, visitor.silent_since); };
  for (Visitor& visitor : visitors_) {
    if (visitor.sent_away || (visitor.answered && takes_more(visitor.stream))) continue;
    if (silent == nullptr || comes_first(visitor) < comes_first(*silent)) silent = &visitor;
  }
  if (silent == nullptr) return false;
  silent->sent_away = true;
  if (takes_more(silent->stream)) {
    say_error(silent->stream, make_error(Reason::TooManyRequests,
                                         "another visitor needs the place of this one, which was silent; connect again"));
  }
  silent->stream.shutdown();
  return true;
}

bool AdminSocket::begin_answer(Visitor& visitor) {
  const std::scoped_lock lock(mutex_);
  visitor.answered = !visitor.sent_away;
  return visitor.answered;
}

void AdminSocket::end_answer(Visitor& visitor) {
  const std::scoped_lock lock(mutex_);
  visitor.answered = false;
  visitor.silent_since = ++silences_;
}

// Line after line, until the visitor leaves, sends an overlong line, or is sent away.
void AdminSocket::serve(Visitor& visitor) {
  while (true) {
    const auto words = visitor.stream.next(kLineBytesMax);
    if ((words.ok() && !*words) || !begin_answer(visitor)) return;
    const bool goes_on = words.ok() ? answer(visitor.stream, **words) : say_error(visitor.stream, words.status());
    if (!goes_on || reason_of(words.status()) == Reason::RequestTooLarge) return;
    end_answer(visitor);
  }
}

bool AdminSocket::answer(const LocalStream& visitor, const std::vector<std::string>& words) {
  SocketReply reply(visitor);
  const absl::Status status = run_admin_command(replica_, identity_, words, reply);
  const bool heard = status.ok() ? say(visitor, {"ok"}) : say_error(visitor, status);  // by one that is gone, perhaps
  return heard && !reply.gone();
}

}  // namespace coordkit
