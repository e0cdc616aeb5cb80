// A shell command, run to its end.
#pragma once

#include <string>

namespace coordkit {

struct Ran {
  std::string text;  // of its standard output; add 2>&1 for both
  int status = -1;   // its exit status; -1: it could not be started, or a signal ended the shell
};
Ran run_command(const std::string& command);

// As one word of a shell command, whatever characters a path or an argument has.
std::string shell_word(const std::string& word);

}  // namespace coordkit
