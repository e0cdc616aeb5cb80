// Questions and acts of an operator, by name: src/replica/operate/admin_socket.h carries them to a running replica, and
// tools/coordctl prints the answer. Everything here uses door 1's own calls: an operator can do what a host can. Most commands
// need no replica, so coordctl runs them in its own process, too, as a remote.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "coordkit/replica.h"

namespace coordkit {

// Whose service it is; the service itself does not know.
struct AdminIdentity {
  uint64_t id = 0;  // zero: it has no replica
  std::string cluster;
};

// Receives an answer piece by piece. An answer about many things begins with the column names, and has a row with a cell for
// each column. An answer about one thing has fields. The name of a column or field ends with ":number" or ":flag" if its cells
// are numbers, or true and false. That of a field ends with ":list" if it has any number of cells, all of them texts. Any other
// field has one, or none if there is no such thing now. An empty cell of a column: absent.
class AdminReply {
 public:
  virtual ~AdminReply() = default;
  virtual void field(std::string name, std::vector<std::string> cells) = 0;
  virtual void columns(std::vector<std::string> names) = 0;
  virtual void row(std::vector<std::string> cells) = 0;
  virtual void note(std::string sentence) = 0;  // for a human reader: not part of the answer
  virtual bool gone() = 0;                      // the reader is gone
};

struct AdminCommand {
  using Words = std::span<const std::string>;
  using OfService = absl::Status (*)(Service&, const AdminIdentity&, Words, AdminReply&);
  using OfReplica = absl::Status (*)(Replica&, const AdminIdentity&, Words, AdminReply&);  // of nothing else
  std::string_view name;
  std::string_view usage;  // its words, as in "OLD ID ADDRESS"; in brackets: optional
  std::string_view help;   // one line
  std::variant<OfService, OfReplica> run;

  size_t words_least() const;
  size_t words_most() const;
};

std::span<const AdminCommand> admin_commands();

// `words`: the command's name and its arguments. Blocks as long as the call does; a watch, a backup, a change of members and
// the wait for a scrub end with the reader. kInvalidArgument: no such command, or wrong arguments; otherwise the status of the
// door 1 call.
absl::Status run_admin_command(Replica& replica, const AdminIdentity& identity, std::span<const std::string> words,
                               AdminReply& reply);
// The same where there is no replica. kInvalidArgument, too: the command needs one.
absl::Status run_remote_command(Service& service, const AdminIdentity& identity, std::span<const std::string> words,
                                AdminReply& reply);

}  // namespace coordkit
