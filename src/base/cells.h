// Lines of cells, as used on the admin socket. Tabs separate the cells. A tab, a line end, a backslash and any other control
// byte inside a cell are escaped as \t, \n, \\ and \xNN. Any bytes come back as they were.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace coordkit {

std::string join_cells(std::span<const std::string> cells);  // without a line end
// kInvalidArgument: an invalid escape. A line without a tab is one cell.
absl::StatusOr<std::vector<std::string>> split_cells(std::string_view line);

}  // namespace coordkit
