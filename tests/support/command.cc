#include "tests/support/command.h"

#include <sys/wait.h>

#include <cstdio>

namespace coordkit {

Ran run_command(const std::string& command) {
  Ran ran;
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return ran;
  char piece[4096];
  while (const size_t size = ::fread(piece, 1, sizeof piece, pipe)) ran.text.append(piece, size);
  const int ended = ::pclose(pipe);
  if (WIFEXITED(ended)) ran.status = WEXITSTATUS(ended);
  return ran;
}

std::string shell_word(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace coordkit
