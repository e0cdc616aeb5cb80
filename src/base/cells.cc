#include "base/cells.h"

#include <optional>

#include "coordkit/error.h"

namespace coordkit {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

void append_escaped(std::string& out, std::string_view cell) {
  for (const char byte : cell) {
    const auto value = static_cast<unsigned char>(byte);
    if (byte == '\t') {
      out += "\\t";
    } else if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\\') {
      out += "\\\\";
    } else if (value < 0x20 || value == 0x7f) {
      out += "\\x";
      out += kDigits[value >> 4];
      out += kDigits[value & 15];
    } else {
      out += byte;
    }
  }
}

// Consumes the rest of an escape, after its backslash, from `rest`.
std::optional<char> unescaped(std::string_view& rest) {
  if (rest.empty()) return std::nullopt;
  const char kind = rest.front();
  rest.remove_prefix(1);
  if (kind == 't') return '\t';
  if (kind == 'n') return '\n';
  if (kind == '\\') return '\\';
  if (kind != 'x' || rest.size() < 2) return std::nullopt;
  const size_t high = kDigits.find(rest[0]);
  const size_t low = kDigits.find(rest[1]);
  rest.remove_prefix(2);
  if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
  return static_cast<char>(high << 4 | low);
}

}  // namespace

std::string join_cells(std::span<const std::string> cells) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += '\t';
    append_escaped(line, cells[i]);
  }
  return line;
}

absl::StatusOr<std::vector<std::string>> split_cells(std::string_view line) {
  std::vector<std::string> cells(1);
  while (!line.empty()) {
    char byte = line.front();
    line.remove_prefix(1);
    if (byte == '\t') {
      cells.emplace_back();
      continue;
    }
    if (byte == '\\') {
      const std::optional<char> meant = unescaped(line);
      if (!meant) return make_error(Reason::InvalidArgument, "a backslash that escapes nothing");
      byte = *meant;
    }
    cells.back() += byte;
  }
  return cells;
}

}  // namespace coordkit
