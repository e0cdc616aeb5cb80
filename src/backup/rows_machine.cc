#include "backup/rows_machine.h"

#include "base/check.h"
#include "coordkit/error.h"

namespace coordkit::backup {

void RowsMachine::apply(std::span<const Command>, ApplyOutput&) {
  check_failed("a command of a machine that this program has", __FILE__, __LINE__, "");
}

absl::StatusOr<std::string> RowsMachine::query(std::string_view) const {
  return make_error(Reason::MachineMissing, "this program has only the rows of this machine, not the machine");
}

}  // namespace coordkit::backup
